// The rank that computes: the only one, or one in a grid of ranks over which the matrices are
// distributed. The code for both cases is the same.
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/error.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "algorithms/linalg/band_codelets.hpp"
#include "algorithms/linalg/collectives.hpp"
#include "solver/dense_problem.hpp"

namespace fairlead::solver {

struct GridRank {
  Rank rank{};
  CyclicMap grid{};
  std::uint32_t readers = 1;   ///< ranks that read input files: all, or rank 0 alone
  bool grid_is_given = false;  ///< otherwise it suits the operation

  GridRank for_operation(const DenseOperation& operation) const {
    GridRank place = *this;
    if (!grid_is_given && operation.rank_grid == DenseOperation::RankGrid::rows)
      place.grid = {.rank_rows = static_cast<std::int32_t>(count()), .rank_columns = 1};
    return place;
  }
  std::uint32_t count() const noexcept { return rank.count(); }
  bool alone() const noexcept { return count() == 1; }
  /// The first rank prints and writes.
  bool first() const noexcept { return rank.number() == 0; }
  bool reads() const noexcept { return rank.number() < readers; }

  template <class T>
  TiledMatrix<T> tiled(Runtime& runtime, const std::string& name, std::int64_t rows, std::int64_t columns,
                       TileSize tile, Tiles which = Tiles::all) const {
    return alone() ? runtime.tiled<T>(name, rows, columns, tile, which)
                   : runtime.tiled<T>(name, rows, columns, tile, Distribution(grid), which);
  }
  template <class T, class Generator>
  TiledMatrix<T> generated(Runtime& runtime, const std::string& name, std::int64_t rows, std::int64_t columns,
                           TileSize tile, const Generator& how) const {
    return alone() ? runtime.tiled<T>(name, rows, columns, tile, how)
                   : runtime.tiled<T>(name, rows, columns, tile, Distribution(grid), how);
  }
  linalg::ReadingRanks reading_ranks(std::function<void()> wait) const {
    return {.root_reads_all = !alone() && readers == 1, .wait = std::move(wait)};
  }
};

/// Runs a check with the same result on all ranks; the first one throws its error, the others a RankError in which that is
/// nested.
template <class Check>
void alike(bool first, const Check& check) {
  try {
    check();
  } catch (const NumericalError& error) {
    if (first) throw;
    std::throw_with_nested(RankError(error.what()));
  } catch (const InputError& error) {
    if (first) throw;
    std::throw_with_nested(RankError(error.what()));
  }
}

/// The minimum over the ranks. All ranks call it.
inline Bytes least_of_ranks(Runtime& runtime, Bytes own) {
  double least[] = {-static_cast<double>(own)};
  linalg::allreduce_max(runtime, least);
  return static_cast<Bytes>(-least[0]);
}

/// Gives all ranks the same tile, though each chooses by its own memory.
inline void settle_tile(Runtime& runtime, DenseProblem& problem) {
  problem.tile = static_cast<std::int32_t>(least_of_ranks(runtime, static_cast<Bytes>(problem.tile)));
}

}  // namespace fairlead::solver
