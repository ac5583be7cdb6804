// The table of operations, and sizes.
#include "fairlead/dense_problem.hpp"

#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "algorithms/linalg/choose_tile.hpp"
#include "base/pages.hpp"
#include "base/suggest.hpp"

namespace fairlead::app {

namespace {

/// Each costs some hundreds of bytes of memory, and their product counts tasks.
constexpr std::int64_t most_tiles_a_side = 2048;

double product_flops_of(double n) { return report::product_flops(n, n, n); }
std::uint64_t product_tasks_of(std::int64_t tiles) {
  return static_cast<std::uint64_t>(tiles * tiles * tiles);
}
report::IoBounds product_bounds_of(std::uint64_t n, std::size_t element_bytes, Bytes memory_limit) {
  return report::gemm_bounds(n, n, n, element_bytes, memory_limit);
}
double cholesky_flops_of(double n) { return report::cholesky_flops(n); }
double lu_flops_of(double n) { return report::lu_flops(n); }
std::uint64_t cholesky_tasks_of(std::int64_t tiles) { return linalg::cholesky_tasks(tiles); }
std::uint64_t lu_tasks_of(std::int64_t tiles) { return linalg::lu_tasks(tiles); }

}  // namespace

const DenseOperation cholesky_operation{"cholesky",
                                        "Cholesky factorization",
                                        Tiles::lower,
                                        1,
                                        linalg::RateSet::cholesky,
                                        cholesky_flops_of,
                                        cholesky_tasks_of,
                                        report::cholesky_bounds,
                                        report::cholesky_ceiling};
const DenseOperation lu_operation{"lu",
                                  "LU factorization without pivoting",
                                  Tiles::all,
                                  1,
                                  linalg::RateSet::lu,
                                  lu_flops_of,
                                  lu_tasks_of,
                                  report::lu_bounds,
                                  report::lu_ceiling};
const DenseOperation product_operation{"gemm",
                                       "matrix product C += A B",
                                       Tiles::all,
                                       3,
                                       linalg::RateSet::product,
                                       product_flops_of,
                                       product_tasks_of,
                                       product_bounds_of,
                                       report::product_ceiling};

const DenseOperation& find_operation(std::string_view key) {
  for (const DenseOperation* operation : {&cholesky_operation, &lu_operation, &product_operation})
    if (operation->key == key) return *operation;
  const std::string_view names[] = {cholesky_operation.key, lu_operation.key, product_operation.key};
  const std::string near = did_you_mean(key, names);
  throw ConfigError(fmt::format("there is no benchmark \"{}\"{}", key,
                                near.empty() ? "; there are cholesky, lu and gemm" : near));
}

Bytes DenseProblem::matrix_bytes() const noexcept {
  const auto size = static_cast<std::uint64_t>(n);
  if (operation->tiles == Tiles::lower) return report::triangle_bytes(size, element_bytes);
  return static_cast<Bytes>(operation->matrices) * size * size * element_bytes;
}

bool DenseProblem::fits() const noexcept {
  const std::int64_t side = tiles();
  const std::int64_t count = operation->tiles == Tiles::lower ? side * (side + 1) / 2 : side * side;
  const Bytes tile_bytes = static_cast<Bytes>(tile) * static_cast<Bytes>(tile) * element_bytes;
  return static_cast<Bytes>(operation->matrices * count) * whole_pages_for(tile_bytes) + reserved <=
         memory_limit;
}

void DenseProblem::set_tile(const Config& config, std::size_t workers) {
  const Bytes for_tiles = memory_limit > reserved ? memory_limit - reserved : 0;
  tile = config.has("tile")
             ? static_cast<std::int32_t>(std::min<std::uint64_t>(config.count("tile"), 1 << 30))
             : linalg::choose_tile(n, element_bytes, for_tiles, workers);
  if (tiles() <= most_tiles_a_side) return;
  throw ConfigError(fmt::format(
      "{}: n = {} in tiles of {} makes {} of them a side; there may be {}: use --tile {} or more",
      config.has("tile") ? fmt::format("--tile {}", config.count("tile")) : "the tiles are too small", n,
      tile, tiles(), most_tiles_a_side, (n + most_tiles_a_side - 1) / most_tiles_a_side));
}

}  // namespace fairlead::app
