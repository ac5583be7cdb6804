// The graphs that there are over simulated ranks, by name: which matrices each has and whose their tiles are, its classes,
// and what its tasks cost. A new one is one function and one line in the list.
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

/// A matrix whose tiles are dealt out to ranks.
struct RankMatrix {
  std::string name;                                      ///< of the graph's collection
  std::int32_t rows = 0, columns = 0;                    ///< of tiles
  bool lower = false;                                    ///< there are none above the diagonal
  std::function<std::int64_t(std::int32_t row)> height;  ///< elements of a tile
  std::function<std::int64_t(std::int32_t column)> width;
  std::function<std::uint32_t(std::int32_t row, std::int32_t column)> owner;
};

/// What a task of a class costs, from its parameters, in the order in which its class has them.
struct RankTaskCost {
  std::string kernel;
  std::function<ProgramTask(KernelIndex kernel, const std::int32_t* parameters)> of;
};

struct RankGraph {
  std::vector<RankMatrix> matrices;
  /// Adds the classes. The matrices in the same order, of whatever tiles.
  std::function<void(ptg::Graph&, std::span<const TiledMatrix<double>> matrices)> add_classes;
  std::function<RankTaskCost(std::string_view task_class)> cost;
};

/// Tasks that do nothing where their datum is, but that others have it then: they take no time.
inline constexpr std::string_view passing_kernel = "pass";

/// `written`: a name, perhaps with options behind it, as of a workload. Throws ConfigError if there is no such graph over
/// ranks, or if some ranks would have nothing.
RankGraph make_rank_graph(std::string_view written, const WorkloadSize& size, const CyclicMap& grid);

}  // namespace fairlead::simulate
