// The speed of the kernels of tiled algorithms on one core, with warm caches, while other cores run the same kernel:
// the "GEMM peak" and the "tiled ceiling" in reports.
#pragma once
#include <cstdint>
#include <functional>

#include "algorithms/linalg/blas/blas.hpp"
#include "base/time.hpp"

namespace fairlead::linalg {

/// GF/s of one core. 0 = not measured.
struct KernelRates {
  double gemm = 0;   ///< C -= A B^T; C -= A B for algorithms that use that form
  double syrk = 0;   ///< the lower triangle of C -= A A^T
  double trsm = 0;   ///< B := B L^-T, by panel_solve; for LU, B U^-1 and L^-1 B together
  double potrf = 0;  ///< A = L L^T
  double getrf = 0;  ///< A = L U, by unpivoted_lu
};

/// The algorithm whose kernels are measured.
enum class RateSet : std::uint8_t { cholesky, lu, product };

struct RateSettings {
  int tile = 512;   ///< side of a tile, in elements
  int threads = 1;  ///< run each kernel concurrently; the result is their mean rate
  /// At least `repetitions` calls, and until this time has passed.
  Duration per_kernel = std::chrono::milliseconds(100);
  int repetitions = 5;
  RateSet kernels = RateSet::cholesky;
  /// runs first in each thread, for example to pin it to a core
  std::function<void(int thread)> on_thread_start = {};
};

/// Times each kernel on all threads in step, so that all run the same kernel at the same time. The rate of a thread is
/// that of the median call, in CPU time (CLOCK_THREAD_CPUTIME_ID): other processes do not affect it, but contention
/// between the kernels (memory, clock frequency) does. Starts `threads` threads and joins them. Memory: five tiles per
/// thread.
template <Real T>
KernelRates measure(const Blas& blas, const RateSettings& settings);

extern template KernelRates measure<double>(const Blas&, const RateSettings&);
extern template KernelRates measure<float>(const Blas&, const RateSettings&);

}  // namespace fairlead::linalg
