// The ceiling: the maximum speed of a tiled factorization or product with given kernels. The runtime is measured by its
// distance to this, not to the peak of the processor.
#pragma once
#include <cstdint>
#include <optional>

namespace fairlead::report {

/// Floating-point operations of a Cholesky factorization; a multiplication and an addition count one each (LAPACK
/// Working Note 41).
constexpr double cholesky_flops(double n) noexcept { return n * n * n / 3 + n * n / 2 + n / 6; }
/// The same for LU, with or without pivoting.
constexpr double lu_flops(double n) noexcept { return n * (n - 1) * (4 * n + 1) / 6; }
/// The same for QR of an m x n matrix with m >= n.
constexpr double qr_flops(double m, double n) noexcept { return 2 * n * n * (m - n / 3); }
/// The same for C += A B with C m x n and k columns in A.
constexpr double product_flops(double m, double n, double k) noexcept { return 2 * m * n * k; }
/// The same for the two triangular solves after a Cholesky factorization.
constexpr double cholesky_solve_flops(double n, double right_hand_sides) noexcept {
  return 2 * n * n * right_hand_sides;
}

/// The rates of one core on whole tiles while the other cores do the same. 10^9 flops per second.
struct TileRates {
  double gemm = 0, syrk = 0, trsm = 0, potrf = 0, getrf = 0;  ///< 0: unknown
};

/// A lower bound of the time for any schedule of these kernels on these cores, even without transfers.
struct Ceiling {
  double compute_seconds = 0;        ///< work of all tasks, evenly distributed over the cores
  double critical_path_seconds = 0;  ///< the longest chain of dependent tasks
  double seconds() const noexcept {
    return compute_seconds > critical_path_seconds ? compute_seconds : critical_path_seconds;
  }
};

/// For an n x n matrix in tiles of `tile` elements per side. The last row and column of tiles may be smaller; they
/// count at the rate of whole tiles. None if a required rate is unknown (not above zero).
std::optional<Ceiling> cholesky_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                        unsigned cores);

/// The same for an LU factorization without pivoting, and for a product of n x n matrices.
std::optional<Ceiling> lu_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                  unsigned cores);
std::optional<Ceiling> product_ceiling(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                       unsigned cores);

/// The ceiling as a rate of all cores together, 10^9 flops per second; none where cholesky_ceiling() has none.
std::optional<double> cholesky_ceiling_gflops(std::uint64_t n, std::uint64_t tile, const TileRates& rates,
                                              unsigned cores);

}  // namespace fairlead::report
