// An algorithm of tiled linear algebra on generated matrices, as a flow or as a parameterized graph: its results
// and its kernel calls.
#pragma once
#include <fairlead/parameterized_linalg.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/world.hpp"
#include "simulate/flow_file.hpp"

namespace fairlead::linalg::testing {

enum class Algorithm : std::uint8_t {
  cholesky,
  lu,
  lu_incremental,
  qr_flat,
  qr_binary,
  sum_of_product,
  product
};
inline constexpr Algorithm algorithms[] = {Algorithm::cholesky,       Algorithm::lu,
                                           Algorithm::lu_incremental, Algorithm::qr_flat,
                                           Algorithm::qr_binary,      Algorithm::sum_of_product,
                                           Algorithm::product};
inline std::string name_of(Algorithm algorithm) {
  const char* const names[] = {"Cholesky", "LU", "LU, incremental", "QR, flat", "QR, binary",
                               "C + A B",  "A B"};
  return names[static_cast<std::size_t>(algorithm)];
}
inline bool is_qr(Algorithm algorithm) {
  return algorithm == Algorithm::qr_flat || algorithm == Algorithm::qr_binary;
}
inline bool is_product(Algorithm algorithm) { return algorithm >= Algorithm::sum_of_product; }

/// A has m x n elements, m = n but for QR and products; right-hand sides, and B, have so many columns.
struct Sizes {
  int m, n, columns, tile;
  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(columns) +
           " columns, tile " + std::to_string(tile);
  }
};

enum class By : std::uint8_t { flow, graph };

/// The results: the factors and the solution, or the product; and the number of calls of each kernel.
template <class T>
struct Made {
  Dense<T> factors, solution;
  std::vector<std::uint64_t> calls;
  Bytes bytes_read = 0;
  std::vector<ptg::Checked> checked;  ///< of graphs, if requested
};

template <class T>
class GraphOrFlow {
 public:
  GraphOrFlow(Algorithm algorithm, const Sizes& sizes, const Config& config)
      : algorithm_(algorithm),
        runtime_(config),
        a_(runtime_.tiled<T>("A", sizes.m, sizes.n, sizes.tile,
                             algorithm == Algorithm::cholesky ? Tiles::lower : Tiles::all)),
        b_(runtime_.tiled<T>("B", is_product(algorithm) ? sizes.n : sizes.m, sizes.columns, sizes.tile)),
        flow_(runtime_) {
    if (algorithm == Algorithm::lu_incremental) pivots_.emplace(runtime_, a_);
    if (is_qr(algorithm))
      reflectors_.emplace(runtime_, a_, algorithm == Algorithm::qr_flat ? QrTree::flat : QrTree::binary);
    if (is_product(algorithm)) c_.emplace(runtime_.tiled<T>("C", sizes.m, sizes.columns, sizes.tile));
    fill<T>(flow_, matrix(), a_, algorithm == Algorithm::cholesky ? Tiles::lower : Tiles::all);
    fill<T>(flow_, std::make_shared<GeneratedUniform<T>>(b_.rows(), b_.columns(), 6), b_, Tiles::all);
    if (algorithm == Algorithm::sum_of_product)
      fill<T>(flow_, std::make_shared<GeneratedUniform<T>>(c_->rows(), c_->columns(), 8), *c_, Tiles::all);
    flow_.wait();
  }

  Made<T> made(By by, bool check = false) {
    Made<T> made;
    const KernelCounts before = kernels().counts();
    perform(by, check, made, [this](auto& on) { this->factor(on); });
    if (!is_product(algorithm_)) perform(by, check, made, [this](auto& on) { this->solve(on); });
    const KernelCounts after = kernels().counts();
    for (std::size_t i = 0; i < after.size(); ++i) made.calls.push_back(after[i].calls - before[i].calls);
    made.bytes_read = runtime_.disk_traffic().read;
    made.factors = is_product(algorithm_)
                       ? fetch(flow_, *c_)
                       : fetch(flow_, a_, algorithm_ == Algorithm::cholesky ? Tiles::lower : Tiles::all);
    made.solution = fetch(flow_, b_);
    return made;
  }
  /// The bytes that it reads from disk to factor or multiply, if all data are on disk at the start.
  Bytes read_from_disk(By by) {
    runtime_.flush();
    runtime_.drop_clean();
    const Bytes before = runtime_.disk_traffic().read;
    Made<T> made;
    perform(by, false, made, [this](auto& on) { this->factor(on); });
    return runtime_.disk_traffic().read - before;
  }
  std::shared_ptr<const MatrixSource<T>> matrix() const {
    if (algorithm_ == Algorithm::cholesky) return std::make_shared<GeneratedSpd<T>>(a_.rows(), 5);
    if (algorithm_ != Algorithm::lu) return std::make_shared<GeneratedUniform<T>>(a_.rows(), a_.columns(), 5);
    return std::make_shared<GeneratedUniform<T>>(a_.rows(), a_.columns(), 5, static_cast<double>(a_.rows()));
  }

 private:
  template <class Part>
  void perform(By by, bool check, Made<T>& made, const Part& part) {
    if (by == By::flow) {
      part(flow_);
      wait_for_results(flow_);
      return;
    }
    ptg::Graph graph(runtime_);
    part(graph);
    if (check) made.checked.push_back(graph.check());
    run_for_results(graph);
  }
  template <class On>
  void factor(On& on) {
    switch (algorithm_) {
      case Algorithm::cholesky:
        return cholesky(on, kernels(), a_);
      case Algorithm::lu:
        return lu(on, kernels(), a_);
      case Algorithm::lu_incremental:
        return factor_lu_incremental(on, kernels(), a_, *pivots_);
      case Algorithm::qr_flat:
      case Algorithm::qr_binary:
        return factor_qr(on, kernels(), a_, *reflectors_);
      case Algorithm::sum_of_product:
        return multiply<T>(on, kernels(), T(0.5), a_, b_, T(-2), *c_);
      case Algorithm::product:
        return multiply<T>(on, kernels(), T(0.5), a_, b_, T(0), *c_);
    }
  }
  template <class On>
  void solve(On& on) {
    switch (algorithm_) {
      case Algorithm::cholesky:
        return solve_factored(on, kernels(), a_, b_);
      case Algorithm::lu:
        return solve_lu_factored(on, kernels(), a_, b_);
      case Algorithm::lu_incremental:
        return solve_lu_incremental_factored(on, kernels(), a_, *pivots_, b_);
      default:
        return solve_qr_factored(on, kernels(), a_, *reflectors_, b_);
    }
  }

  Algorithm algorithm_;
  Runtime runtime_;
  TiledMatrix<T> a_, b_;
  std::optional<TiledMatrix<T>> c_;
  std::optional<IncrementalPivots<T>> pivots_;
  std::optional<QrReflectors<T>> reflectors_;
  Flow flow_;
};

template <class T>
Made<T> made(Algorithm algorithm, const Sizes& sizes, By by, const Setting& setting, bool check = false) {
  return GraphOrFlow<T>(algorithm, sizes, config_of(setting)).made(by, check);
}

/// The tiles that differ in any bit, with the largest difference of an element. Empty: none.
template <class T>
std::string differences(const Dense<T>& from, const Dense<T>& wanted, int tile) {
  if (from.rows != wanted.rows || from.columns != wanted.columns) return "they have other extents";
  struct Tile {
    int elements = 0;
    double most = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Tile> tiles;
  for (std::int64_t i = 0; i < wanted.rows; ++i)
    for (std::int64_t j = 0; j < wanted.columns; ++j) {
      if (from(i, j) == wanted(i, j)) continue;
      Tile& it = tiles[{i / tile, j / tile}];
      ++it.elements;
      it.most = std::max(it.most, std::abs(static_cast<double>(from(i, j)) - wanted(i, j)));
    }
  std::string text;
  for (const auto& [at, it] : tiles)
    text += fmt::format("tile ({}, {}): {} elements differ by up to {:.3g}\n", at.first, at.second,
                        it.elements, it.most);
  return text;
}

template <class T>
void expect_the_same_bits(const Made<T>& from, const Made<T>& wanted, const Sizes& sizes,
                          const std::string& what) {
  EXPECT_EQ(differences(from.factors, wanted.factors, sizes.tile), "") << what << ": factors";
  EXPECT_EQ(differences(from.solution, wanted.solution, sizes.tile), "") << what << ": solution";
}

/// The numbers of tasks of a flow, and of values that its tasks get from each other.
struct TasksAndEdges {
  std::uint64_t tasks = 0, edges = 0;
};
inline TasksAndEdges tasks_and_edges(const simulate::Program& program) {
  TasksAndEdges found;
  std::vector<bool> written(program.data.size());
  program.for_each_task([&](const simulate::ProgramTask&, std::span<const simulate::ProgramUse> uses) {
    ++found.tasks;
    for (const simulate::ProgramUse& use : uses)
      found.edges += use.mode != AccessMode::write && written[static_cast<std::size_t>(use.datum)];
    for (const simulate::ProgramUse& use : uses)
      if (use.mode != AccessMode::read) written[static_cast<std::size_t>(use.datum)] = true;
  });
  return found;
}

}  // namespace fairlead::linalg::testing
