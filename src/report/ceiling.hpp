// How fast a tiled factorization or product can be with given kernels: what a runtime answers for is the
// distance to this, not to the peak of the processor.
#pragma once
#include <cstdint>
#include <optional>

namespace fairlead::report {

/// Floating-point operations, multiplies and adds counted one each (LAPACK Working Note 41).
constexpr double cholesky_flops(double n) noexcept { return n * n * n / 3 + n * n / 2 + n / 6; }
/// Of LU, with or without pivoting.
constexpr double lu_flops(double n) noexcept { return n * (n - 1) * (4 * n + 1) / 6; }
/// Of QR, for m x n with m >= n.
constexpr double qr_flops(double m, double n) noexcept { return 2 * n * n * (m - n / 3); }
/// Of C += A B with C m x n and k columns in A.
constexpr double product_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }
/// Of the two triangular solves that follow, for so many right-hand sides.
constexpr double cholesky_solve_flops(double n, double right_hand_sides) noexcept {
  return 2 * n * n * right_hand_sides;
}

/// What one core does with whole tiles while the other cores do the same. 10^9 flops per second.
struct TileRates {
  double gemm = 0, syrk = 0, trsm = 0, potrf = 0, getrf = 0;  ///< 0: not known
};

/// No schedule of these kernels on these cores takes less time, however well it moves its data.
struct Ceiling {
  double compute_seconds = 0;        ///< the work of all tasks, spread evenly over the cores
  double critical_path_seconds = 0;  ///< the longest chain of tasks, each waiting for the one before
  double seconds() const noexcept {
    return compute_seconds > critical_path_seconds ? compute_seconds : critical_path_seconds;
  }
};

/// Of an n x n matrix in tiles of `tile` elements a side; the last row and column of tiles may be smaller,
/// and is taken to run at the rate of whole tiles. Nothing if a rate that is needed is not known (not above
/// zero).
std::optional<Ceiling> cholesky_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                        unsigned cores);

/// The same for an LU factorization without pivoting, and for a product of n x n matrices.
std::optional<Ceiling> lu_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                  unsigned cores);
std::optional<Ceiling> product_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                       unsigned cores);

/// That time as a rate, 10^9 flops per second of all cores together; nothing where cholesky_ceiling() is.
std::optional<double> cholesky_ceiling_gflops(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                              unsigned cores);

}  // namespace fairlead::report
