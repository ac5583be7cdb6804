// Work and critical path of a tiled Cholesky factorization, in closed form.
#include "report/ceiling.hpp"

#include <algorithm>

namespace fairlead::report {

namespace {

// Seconds of one task each. `m`, `n`, `k`: sides of its tiles.
struct TaskSeconds {
  TileRates rates;
  double gemm(double m, double n, double k) const { return 2 * m * n * k / (rates.gemm * 1e9); }
  double syrk(double n, double k) const { return n * (n + 1) * k / (rates.syrk * 1e9); }
  double trsm(double m, double n) const { return m * n * n / (rates.trsm * 1e9); }
  double potrf(double n) const { return cholesky_flops(n) / (rates.potrf * 1e9); }
};

// `whole` tiles of `tile` a side, and a last one of `rest` < tile if that is not zero.
double work(const TaskSeconds& seconds, double whole, double tile, double rest) {
  const double pairs = whole * (whole - 1) / 2, triples = pairs * (whole - 2) / 3;
  double sum = triples * seconds.gemm(tile, tile, tile) + pairs * seconds.syrk(tile, tile) +
               pairs * seconds.trsm(tile, tile) + whole * seconds.potrf(tile);
  if (rest > 0)
    sum += pairs * seconds.gemm(rest, tile, tile) + whole * seconds.syrk(rest, tile) +
           whole * seconds.trsm(rest, tile) + seconds.potrf(rest);
  return sum;
}

// From the trsm of one column to that of the next the longest way is over the update of a tile below the
// diagonal (gemm), or over the update and the factorization of the diagonal tile (syrk, potrf).
double critical_path(const TaskSeconds& seconds, std::uint64_t tiles, double tile, double last) {
  if (tiles == 1) return seconds.potrf(last);
  const double diagonal = seconds.syrk(tile, tile) + seconds.potrf(tile);
  double sum = seconds.potrf(tile) + seconds.trsm(tiles == 2 ? last : tile, tile);
  for (std::uint64_t column = 1; column + 1 < tiles; ++column) {
    const double row = column + 2 == tiles ? last : tile;  // of the tallest tile below this column's diagonal
    sum += std::max(seconds.gemm(row, tile, tile), diagonal) + seconds.trsm(row, tile);
  }
  return sum + seconds.syrk(last, tile) + seconds.potrf(last);
}

}  // namespace

std::optional<Ceiling> cholesky_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                        unsigned cores) {
  if (n == 0 || tile == 0 || cores == 0) return {};
  tile = std::min(tile, n);
  const std::uint64_t whole = n / tile, rest = n % tile, tiles = whole + (rest > 0 ? 1 : 0);
  const bool known =
      rates.potrf > 0 && (tiles < 2 || (rates.syrk > 0 && rates.trsm > 0)) && (tiles < 3 || rates.gemm > 0);
  if (!known) return {};
  // A rate that no task needs must not turn "no tasks" into 0 x infinity.
  const auto some = [](double rate) { return rate > 0 ? rate : 1; };
  const TaskSeconds seconds{{some(rates.gemm), some(rates.syrk), some(rates.trsm), rates.potrf}};
  const double side = static_cast<double>(tile), last = static_cast<double>(rest > 0 ? rest : tile);
  return Ceiling{
      .compute_seconds = work(seconds, static_cast<double>(whole), side, static_cast<double>(rest)) / cores,
      .critical_path_seconds = critical_path(seconds, tiles, side, last)};
}

std::optional<double> cholesky_ceiling_gflops(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                              unsigned cores) {
  const auto ceiling = cholesky_ceiling(n, tile, rates, cores);
  if (!ceiling) return {};
  return cholesky_flops(static_cast<double>(n)) / ceiling->seconds() / 1e9;
}

}  // namespace fairlead::report
