// A parameterized graph over distributed matrices, independent of a rank: its classes, the owners of tiles, and the
// cost of each task. The classes are those of real runs.
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/handle.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "simulate/cluster/rank_graph.hpp"
#include "simulate/program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {

/// Parses "6x8", the rows and columns of ranks. None if the text is invalid or there are more than 4,096 ranks.
std::optional<CyclicMap> grid_in(std::string_view text);

/// The handle type of the graph's data. No values are stored, so one type serves both precisions.
using TileHandle = Handle<Tile<double>>;

class Blueprint {
 public:
  /// Parameters as for make_rank_graph().
  Blueprint(std::string_view workload, const WorkloadSize& size, const CyclicMap& grid);
  Blueprint(const Blueprint&) = delete;
  Blueprint& operator=(const Blueprint&) = delete;

  std::uint32_t ranks() const noexcept {
    return static_cast<std::uint32_t>(grid_.rank_rows * grid_.rank_columns);
  }
  const CyclicMap& grid() const noexcept { return grid_; }
  const WorkloadSize& size() const noexcept { return size_; }
  /// The kernels alone, without data or tasks.
  const Program& kernels() const noexcept { return kernels_; }
  const ptg::ClassTable& classes() const noexcept { return classes_; }
  /// Kernel and work of a task.
  ProgramTask task(const ptg::TaskInstance& task) const {
    return costs_[task.task_class].of(task.parameters());
  }
  KernelIndex kernel(std::size_t task_class) const { return costs_[task_class].kernel; }
  /// True if tasks of the class only forward a datum to other tasks from the node where they run.
  bool forwards_only(std::size_t task_class) const {
    return kernels_.takes_no_time(kernels_.kernels[static_cast<std::size_t>(kernel(task_class))]);
  }
  /// True if some classes only forward data and others compute.
  bool forwards_only() const;

  struct Tile {
    std::int32_t row, column;
    std::uint32_t owner;
    std::int64_t rows, columns;  ///< 0: there is no such tile (above the diagonal)
    Bytes bytes(Precision precision) const {
      return static_cast<Bytes>(rows * columns) * element_bytes(precision);
    }
  };
  /// The tiles of one of the graph's collections, by position in the collection.
  class Matrix {
   public:
    explicit Matrix(RankMatrix of);
    const std::string& name() const noexcept { return of_.name; }
    Tile tile(std::size_t position) const;
    std::size_t positions() const noexcept {
      return static_cast<std::size_t>(of_.rows) * static_cast<std::size_t>(of_.columns);
    }
    /// Bytes of a tile in the highest row and the widest column.
    Bytes largest(Precision precision) const;
    const ptg::Owners& owners() const noexcept { return owners_; }

   private:
    RankMatrix of_;
    ptg::Owners owners_;
  };
  const Matrix& matrix(std::string_view name) const;
  /// Bytes of all tiles of that rank.
  Bytes bytes_of(std::uint32_t rank) const;
  /// Bytes of the largest tile.
  Bytes largest_tile() const;

 private:
  struct Cost {
    KernelIndex kernel;
    std::function<ProgramTask(const std::int32_t* parameters)> of;
  };
  WorkloadSize size_;
  CyclicMap grid_;
  std::vector<Matrix> matrices_;
  Program kernels_;
  std::vector<std::shared_ptr<const ptg::ClassDefinition>> definitions_;
  ptg::ClassTable classes_;
  std::vector<Cost> costs_;  // by class
};

}  // namespace fairlead::simulate
