// The process that times one BLAS: loads it, checks its results, times it, prints one line.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fairlead/error.hpp>

#include "algorithms/linalg/blas/blas_timing.hpp"
#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "base/core_time.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace fairlead::linalg {
namespace {

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return {};
  return value;
}

/// Factors a positive definite matrix and multiplies the factors: kernels for another processor may run and be wrong.
/// The size exercises the blocked code paths of the library and their remainders.
bool computes_correctly(const Blas& blas) {
  constexpr int n = 203;
  std::vector<double> a(n * n), l, back(n * n);
  Random random(7);
  constexpr std::size_t side = n;
  for (std::size_t j = 0; j < side; ++j)
    for (std::size_t i = j; i < side; ++i)
      a[i + j * side] = a[j + i * side] = i == j ? n : random.unit() - 0.5;
  l = a;
  if (blas.potrf<double>(Triangle::lower, n, l.data(), n) != 0) return false;
  for (std::size_t j = 0; j < side; ++j)
    for (std::size_t i = 0; i < j; ++i) l[i + j * side] = 0;
  blas.gemm<double>(Transpose::no, Transpose::yes, n, n, n, 1, l.data(), n, l.data(), n, 0, back.data(), n);
  double error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(back[i])) return false;
    error = std::max(error, std::abs(back[i] - a[i]));
  }
  return error < 1e-10 * n;
}

/// True if the calling thread uses all CPU time of a call. Reliable on a busy machine, too.
bool computes_on_one_thread(const Blas& blas) {
  const int n = 320;
  const std::vector<double> a(n * n, 1.0), b = a;
  std::vector<double> c = a;
  const auto call = [&] {
    blas.gemm<double>(Transpose::no, Transpose::no, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  };
  call();  // initializes the library
  const double process = cpu_seconds_of_process(), thread = cpu_seconds_of_thread();
  for (int i = 0; i < 3; ++i) call();
  const double all = cpu_seconds_of_process() - process;
  return all < 1.25 * (cpu_seconds_of_thread() - thread) + 0.0005;
}

double gflops_of(const KernelRates& rates) noexcept {
  if (rates.gemm <= 0 || rates.syrk <= 0 || rates.trsm <= 0 || rates.potrf <= 0) return 0;
  // With n tiles per side and units of b^3, where b is the tile side: n^3 / 3 operations in all, of which each of the
  // n^2 / 2 tasks of syrk and of trsm has one, and each of the n tasks of potrf a third.
  constexpr double n = 20, syrk = 1.5 / n, trsm = 1.5 / n, potrf = 1 / (n * n);
  return 1 / ((1 - syrk - trsm - potrf) / rates.gemm + syrk / rates.syrk + trsm / rates.trsm +
              potrf / rates.potrf);
}

}  // namespace

double BlasTiming::gflops() const noexcept { return gflops_of(rates); }
double BlasTiming::own_gflops() const noexcept { return gflops_of(own_rates); }

int time_blas_main(const std::vector<std::string>& arguments) {
  const auto tile = arguments.size() == 3 ? number(arguments[1]) : std::nullopt;
  const auto milliseconds = arguments.size() == 3 ? number(arguments[2]) : std::nullopt;
  if (!tile || !milliseconds) {
    log_message("fairlead: timing a BLAS needs: LIBRARY TILE MILLISECONDS\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the parent waits for this process
  // The parent enforces the time limit; these limits apply if the parent is stopped. The wall-time limit is generous,
  // as the machine may be busy.
  const rlimit most{static_cast<rlim_t>(*milliseconds / 1000 + 1), RLIM_INFINITY};
  ::setrlimit(RLIMIT_CPU, &most);
  ::alarm(600);
  try {
    const auto blas = Blas::load({.blas = arguments[0], .lapack = {}});
    if (!computes_on_one_thread(*blas))
      throw SystemError(blas->path() + " computes on several threads, although it was set to one");
    const auto rates_of = [&](const Blas& with, int repetitions, int part) {
      if (!computes_correctly(with)) throw NumericalError(blas->path() + " computes wrong results");
      const Duration each = std::chrono::milliseconds(*milliseconds) / 20;
      return measure<double>(with,
                             {.tile = *tile,
                              .per_kernel = std::min<Duration>(each, std::chrono::milliseconds(60)) / part,
                              .repetitions = repetitions});
    };
    const KernelRates rates = rates_of(*blas, 5, 1);
    const auto own = Blas::load({.blas = arguments[0], .lapack = {}, .own_products = true});
    const KernelRates own_rates = own->has_own_products() ? rates_of(*own, 3, 3) : KernelRates();
    fmt::print("fairlead-blas-timing\t3\t{}\t{}\t{}\t{}", blas->path(), blas->core_type(),
               blas->core_type_variable(), blas->core_type_numbers());
    for (const KernelRates& one : {rates, own_rates})
      fmt::print("\t{:.3f}\t{:.3f}\t{:.3f}\t{:.3f}", one.gemm, one.syrk, one.trsm, one.potrf);
    fmt::print("\n");
    return 0;
  } catch (const std::exception& error) {
    fmt::print("fairlead-blas-failure\t1\t{}\n", error.what());
    return 1;
  }
}

}  // namespace fairlead::linalg
