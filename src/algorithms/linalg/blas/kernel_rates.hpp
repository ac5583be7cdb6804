// How fast the kernels of tiled algorithms run on one core, with warm caches, while other cores do the same:
// the "GEMM peak" and the "tiled ceiling" that reports compare a run with.
#pragma once
#include <cstdint>
#include <functional>

#include "algorithms/linalg/blas/blas.hpp"
#include "base/time.hpp"

namespace fairlead::linalg {

/// 10^9 floating-point operations a second of one core. 0 = not measured.
struct KernelRates {
  double gemm = 0;   ///< C -= A B^T; C -= A B where that is what the algorithm does
  double syrk = 0;   ///< the lower triangle of C -= A A^T
  double trsm = 0;   ///< B := B L^-T, by panel_solve; of LU, B U^-1 and L^-1 B together
  double potrf = 0;  ///< A = L L^T
  double getrf = 0;  ///< A = L U, by unpivoted_lu
};

/// Which kernels: those of an algorithm.
enum class RateSet : std::uint8_t { cholesky, lu, product };

struct RateSettings {
  int tile = 512;   ///< elements a side
  int threads = 1;  ///< run each kernel at the same time; the mean of their rates is returned
  /// At least `repetitions` calls, then until this is over.
  Duration per_kernel = std::chrono::milliseconds(100);
  int repetitions = 5;
  RateSet kernels = RateSet::cholesky;
  std::function<void(int thread)> at_start = {};  ///< runs first in each thread: binds it to a core, say
};

/// Times each kernel, the threads in step, so that all of them run the same kernel all the while; a thread's
/// rate is that of the median call. Time is that of the core (CLOCK_THREAD_CPUTIME_ID): other processes on
/// the machine do not enter, what the kernels take from each other (memory, clock frequency) does. Starts
/// `threads` threads and joins them. Memory: five tiles per thread.
template <Real T>
KernelRates measure(const Blas& blas, const RateSettings& settings);

extern template KernelRates measure<double>(const Blas&, const RateSettings&);
extern template KernelRates measure<float>(const Blas&, const RateSettings&);

}  // namespace fairlead::linalg
