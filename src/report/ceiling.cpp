// Work and critical path of tiled factorizations and products, in closed form.
#include "report/ceiling.hpp"

#include <algorithm>

namespace fairlead::report {

namespace {

// Seconds of one task of each kind. `m`, `n`, `k`: sides of its tiles.
struct TaskSeconds {
  TileRates rates;
  double gemm(double m, double n, double k) const { return 2 * m * n * k / (rates.gemm * 1e9); }
  double syrk(double n, double k) const { return n * (n + 1) * k / (rates.syrk * 1e9); }
  double trsm(double m, double n) const { return m * n * n / (rates.trsm * 1e9); }
  double potrf(double n) const { return cholesky_flops(n) / (rates.potrf * 1e9); }
  double getrf(double n) const { return lu_flops(n) / (rates.getrf * 1e9); }
};

// A side of `n` elements in tiles: `whole` tiles of `tile` elements, and a last one of `rest` if that is not zero.
struct Cut {
  Cut(std::uint64_t n, std::uint64_t side) {
    side = std::min(side, n);
    const std::uint64_t of_whole_size = n / side;
    tile = static_cast<double>(side);
    whole = static_cast<double>(of_whole_size);
    rest = static_cast<double>(n % side);
  }
  double tile = 0, whole = 0, rest = 0;
  double last() const { return rest > 0 ? rest : tile; }
  double tiles() const { return whole + (rest > 0 ? 1 : 0); }
};

// A rate that no task uses must not turn "no tasks" into 0 x infinity.
TileRates without_zeros(TileRates rates) {
  for (double* const rate : {&rates.gemm, &rates.syrk, &rates.trsm, &rates.potrf, &rates.getrf})
    if (!(*rate > 0)) *rate = 1;
  return rates;
}

double cholesky_work(const TaskSeconds& seconds, const Cut& cut) {
  const auto [tile, whole, rest] = cut;
  const double pairs = whole * (whole - 1) / 2, triples = pairs * (whole - 2) / 3;
  double sum = triples * seconds.gemm(tile, tile, tile) + pairs * seconds.syrk(tile, tile) +
               pairs * seconds.trsm(tile, tile) + whole * seconds.potrf(tile);
  if (rest > 0)
    sum += pairs * seconds.gemm(rest, tile, tile) + whole * seconds.syrk(rest, tile) +
           whole * seconds.trsm(rest, tile) + seconds.potrf(rest);
  return sum;
}

// Between the trsm tasks of consecutive columns, the longest path goes through the update of a tile below the diagonal
// (gemm), or through the update and factorization of the diagonal tile (syrk, potrf).
double cholesky_path(const TaskSeconds& seconds, const Cut& cut) {
  const double tile = cut.tile, last = cut.last(), tiles = cut.tiles();
  if (tiles < 2) return seconds.potrf(last);
  const double diagonal = seconds.syrk(tile, tile) + seconds.potrf(tile);
  double sum = seconds.potrf(tile) + seconds.trsm(tiles < 3 ? last : tile, tile);
  for (double column = 1; column + 1 < tiles; ++column) {
    // Height of the tallest tile below this column's diagonal.
    const double row = column + 3 > tiles ? last : tile;
    sum += std::max(seconds.gemm(row, tile, tile), diagonal) + seconds.trsm(row, tile);
  }
  return sum + seconds.syrk(last, tile) + seconds.potrf(last);
}

double lu_work(const TaskSeconds& seconds, const Cut& cut) {
  const auto [tile, whole, rest] = cut;
  const double pairs = whole * (whole - 1) / 2, squares = pairs * (2 * whole - 1) / 3;
  double sum = squares * seconds.gemm(tile, tile, tile) + 2 * pairs * seconds.trsm(tile, tile) +
               whole * seconds.getrf(tile);
  if (rest > 0)
    sum += 2 * pairs * seconds.gemm(rest, tile, tile) + whole * seconds.gemm(rest, rest, tile) +
           2 * whole * seconds.trsm(rest, tile) + seconds.getrf(rest);
  return sum;
}

// Along the diagonal: getrf, the solve of an adjacent tile, and the update of the next diagonal tile.
double lu_path(const TaskSeconds& seconds, const Cut& cut) {
  const auto step = [&](double next) {
    return seconds.getrf(cut.tile) + seconds.trsm(next, cut.tile) + seconds.gemm(next, next, cut.tile);
  };
  if (cut.tiles() < 2) return seconds.getrf(cut.last());
  return (cut.tiles() - 2) * step(cut.tile) + step(cut.last()) + seconds.getrf(cut.last());
}

std::optional<double> gflops(double flops, const std::optional<Ceiling>& ceiling) {
  if (!ceiling) return {};
  return flops / ceiling->seconds() / 1e9;
}

}  // namespace

std::optional<Ceiling> cholesky_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                        unsigned cores) {
  if (n == 0 || tile == 0 || cores == 0) return {};
  const Cut cut(n, tile);
  const bool known = rates.potrf > 0 && (cut.tiles() < 2 || (rates.syrk > 0 && rates.trsm > 0)) &&
                     (cut.tiles() < 3 || rates.gemm > 0);
  if (!known) return {};
  const TaskSeconds seconds{without_zeros(rates)};
  return Ceiling{.compute_seconds = cholesky_work(seconds, cut) / cores,
                 .critical_path_seconds = cholesky_path(seconds, cut)};
}

std::optional<Ceiling> lu_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                  unsigned cores) {
  if (n == 0 || tile == 0 || cores == 0) return {};
  const Cut cut(n, tile);
  if (!(rates.getrf > 0 && (cut.tiles() < 2 || (rates.trsm > 0 && rates.gemm > 0)))) return {};
  const TaskSeconds seconds{without_zeros(rates)};
  return Ceiling{.compute_seconds = lu_work(seconds, cut) / cores,
                 .critical_path_seconds = lu_path(seconds, cut)};
}

std::optional<Ceiling> product_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                       unsigned cores) {
  if (n == 0 || tile == 0 || cores == 0 || !(rates.gemm > 0)) return {};
  const TaskSeconds seconds{rates};
  const auto size = static_cast<double>(n), side = static_cast<double>(std::min(n, tile));
  return Ceiling{.compute_seconds = seconds.gemm(size, size, size) / cores,
                 .critical_path_seconds = seconds.gemm(side, side, size)};  // the updates of one tile
}

std::optional<double> cholesky_ceiling_gflops(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                              unsigned cores) {
  return gflops(cholesky_flops(static_cast<double>(n)), cholesky_ceiling(n, tile, rates, cores));
}

}  // namespace fairlead::report
