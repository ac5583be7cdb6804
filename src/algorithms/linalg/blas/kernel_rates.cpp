// Measures kernel rates; each thread has its own tiles. A kernel that overwrites its input gets a new copy before every
// call, which is not timed: numbers that shrink from call to call would become denormal, which are slow.
#include "algorithms/linalg/blas/kernel_rates.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fairlead/error.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/blas/panel_solve.hpp"
#include "algorithms/linalg/blas/unpivoted_lu.hpp"
#include "base/core_time.hpp"
#include "base/guarded_thread.hpp"
#include "base/random.hpp"

namespace fairlead::linalg {
namespace {

/// The state that the threads share.
struct SharedState {
  explicit SharedState(int threads_) : threads(threads_), begin(threads_) {}
  const int threads;
  std::barrier<> begin;           // start of each kernel
  std::atomic<int> finished = 0;  // finished kernels, summed over the threads
};

/// One thread and its n x n tiles.
template <Real T>
class RateMeasurement {
 public:
  RateMeasurement(const Blas& blas, const RateSettings& settings, SharedState& together, std::uint64_t seed)
      : blas_(blas),
        settings_(settings),
        together_(together),
        n_(settings.tile),
        a_(elements()),
        b_(elements()),
        spd_(elements()),
        triangle_(elements()),
        c_(elements()) {
    Random random(seed);
    for (std::size_t i = 0; i < elements(); ++i) {
      a_[i] = static_cast<T>(random.unit() - 0.5);
      b_[i] = static_cast<T>(random.unit() - 0.5);
      spd_[i] = static_cast<T>(random.unit() - 0.5);
    }
    for (int i = 0; i < n_; ++i) spd_[diagonal(i)] = static_cast<T>(n_);
    triangle_ = spd_;
  }

  KernelRates run() {
    const double n = n_;
    const RateSet set = settings_.kernels;
    const bool lu = set == RateSet::lu;
    KernelRates rates;
    const Transpose op_b = lu || set == RateSet::product ? Transpose::no : Transpose::yes;
    rates.gemm = rate(gemm_flops(n, n, n), nothing, [&] {
      blas_.gemm<T>(Transpose::no, op_b, n_, n_, n_, -1, a_.data(), n_, b_.data(), n_, 1, c_.data(), n_);
    });
    if (set == RateSet::product) return rates;
    if (lu)
      rates.getrf = rate(getrf_flops(n), copy_from(spd_),
                         [&] { failed_ |= unpivoted_lu<T>(blas_, n_, n_, c_.data(), n_) != 0; });
    else
      rates.potrf = rate(potrf_flops(n), copy_from(spd_),
                         [&] { failed_ |= blas_.potrf<T>(Triangle::lower, n_, c_.data(), n_) != 0; });
    if (failed_)
      throw SystemError((lu ? "a factorization with " : "potrf of ") + blas_.lapack_path() +
                        " fails on a positive definite matrix");
    const auto solve = [&](const TriangularSolve& with) {
      panel_solve<T>(blas_, with, n_, n_, triangle_.data(), n_, c_.data(), n_);
    };
    if (lu)
      rates.trsm = rate(2 * trsm_flops(n, n), copy_from(b_), [&] {
        solve(below_lu);
        solve(right_of_lu);
      });
    else
      rates.trsm = rate(trsm_flops(n, n), copy_from(b_), [&] { solve(below_cholesky<T>); });
    if (!lu)
      rates.syrk = rate(syrk_flops(n, n), nothing, [&] {
        blas_.syrk<T>(Triangle::lower, Transpose::no, n_, n_, -1, a_.data(), n_, 1, c_.data(), n_);
      });
    return rates;
  }

 private:
  std::size_t elements() const { return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_); }
  std::size_t diagonal(int i) const { return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_ + 1); }

  static void nothing() noexcept {}
  auto copy_from(const std::vector<T>& from) {
    return [this, &from] { c_ = from; };
  }
  double rate(double flops, auto&& prepare, auto&& kernel) {
    return flops * 1e-9 / median_seconds(prepare, kernel);
  }

  /// CPU seconds of the median call of `kernel`; `prepare` runs before each call and is not timed. A thread that has
  /// finished keeps calling the kernel until all have, so that no thread is measured next to an idle core.
  double median_seconds(auto&& prepare, auto&& kernel) {
    const auto timed = [&] {
      prepare();
      const double start = cpu_seconds_of_thread();
      kernel();
      return cpu_seconds_of_thread() - start;
    };
    timed();  // initializes the library's buffers, warms the caches
    together_.begin.arrive_and_wait();

    std::vector<double> calls;
    const auto enough = std::chrono::steady_clock::now() + settings_.per_kernel;
    while (std::cmp_less(calls.size(), settings_.repetitions) || std::chrono::steady_clock::now() < enough)
      calls.push_back(timed());

    kernels_done_ += 1;
    together_.finished.fetch_add(1);
    while (together_.finished.load() < kernels_done_ * together_.threads) timed();
    const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2);
    std::nth_element(calls.begin(), middle, calls.end());
    return std::max(*middle, 1e-9);
  }

  const Blas& blas_;
  const RateSettings& settings_;
  SharedState& together_;
  const int n_;
  std::vector<T> a_, b_, spd_, triangle_, c_;
  int kernels_done_ = 0;
  bool failed_ = false;
};

}  // namespace

template <Real T>
KernelRates measure(const Blas& blas, const RateSettings& settings) {
  if (settings.tile < 1 || settings.threads < 1 || settings.repetitions < 1)
    throw UsageError("kernel rates need a tile, a number of threads and of repetitions of at least 1");
  SharedState together(settings.threads);
  const auto count = static_cast<std::size_t>(settings.threads);
  std::vector<KernelRates> rates(count);
  std::vector<std::exception_ptr> failures(count);
  {
    const auto drop_thread = [&] {  // the other threads do not wait for this one
      together.finished.fetch_add(4 * settings.threads);
      together.begin.arrive_and_drop();
    };
    const auto measure_one = [&](std::size_t thread) {
      try {
        if (settings.on_thread_start) settings.on_thread_start(static_cast<int>(thread));
        rates[thread] = RateMeasurement<T>(blas, settings, together, thread + 1).run();
      } catch (...) {
        failures[thread] = std::current_exception();
        drop_thread();
      }
    };
    JoinedThreads threads;  // last: the threads use all of the above
    for (std::size_t thread = 0; thread < count; ++thread) try {
        threads.start([&, thread] { measure_one(thread); }, ignore_failure);
      } catch (const std::exception&) {  // thread creation failed: the others finish without it
        failures[thread] = std::current_exception();
        drop_thread();
      }
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);

  KernelRates mean;
  for (const auto& one : rates) {
    mean.gemm += one.gemm / settings.threads;
    mean.syrk += one.syrk / settings.threads;
    mean.trsm += one.trsm / settings.threads;
    mean.potrf += one.potrf / settings.threads;
    mean.getrf += one.getrf / settings.threads;
  }
  return mean;
}

template KernelRates measure<double>(const Blas&, const RateSettings&);
template KernelRates measure<float>(const Blas&, const RateSettings&);

}  // namespace fairlead::linalg
