// The graphs available for simulated ranks, by name: the matrices and the owners of their tiles, the task classes, and
// the cost of tasks. A new graph is one function and one line in the list.
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/ptg.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// A matrix whose tiles are distributed over ranks.
struct RankMatrix {
  std::string name;                                      ///< of the graph's collection
  std::int32_t rows = 0, columns = 0;                    ///< in tiles
  bool lower = false;                                    ///< there are no tiles above the diagonal
  std::function<std::int64_t(std::int32_t row)> height;  ///< elements of a tile
  std::function<std::int64_t(std::int32_t column)> width;
  std::function<std::uint32_t(std::int32_t row, std::int32_t column)> owner;
};

/// The cost of a task of a class, from its parameters in the class's order.
struct RankTaskCost {
  std::string kernel;
  std::function<ProgramTask(KernelIndex kernel, const std::int32_t* parameters)> of;
};

struct RankGraph {
  std::vector<RankMatrix> matrices;
  /// Adds the classes; `matrices` are in the same order, with tiles of any size.
  std::function<void(ptg::Graph&, std::span<const TiledMatrix<double>> matrices)> add_classes;
  std::function<RankTaskCost(std::string_view task_class)> cost;
};

/// The kernel of tasks that only forward their datum; they take no time.
inline constexpr std::string_view forwarding_kernel = "pass";

/// `written`: a name, optionally with options, as for a workload. Throws ConfigError if there is no such graph, or if a
/// rank would own no tiles.
RankGraph make_rank_graph(std::string_view written, const WorkloadSize& size, const CyclicMap& grid);

}  // namespace fairlead::simulate
