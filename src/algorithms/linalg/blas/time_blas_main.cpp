// The process that times one BLAS: loads it, checks that it computes what it should, times it, prints one
// line.
#include <fmt/format.h>
#include <sys/prctl.h>
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
#include "base/random.hpp"

namespace fairlead::linalg {
namespace {

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return {};
  return value;
}

/// Factors a positive definite matrix and multiplies the factors: kernels made for another processor may run
/// and be wrong. The size takes the library through its blocked paths and their remainders.
bool computes_correctly(const Blas& blas) {
  const int n = 203;
  std::vector<double> a(n * n), l, back(n * n);
  Random random(7);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      const double value = i == j ? n : random.unit() - 0.5;
      a[static_cast<std::size_t>(i + j * n)] = a[static_cast<std::size_t>(j + i * n)] = value;
    }
  l = a;
  if (blas.potrf<double>(Triangle::lower, n, l.data(), n) != 0) return false;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) l[static_cast<std::size_t>(i + j * n)] = 0;
  blas.gemm<double>(Transpose::no, Transpose::yes, n, n, n, 1, l.data(), n, l.data(), n, 0, back.data(), n);
  double error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(back[i])) return false;
    error = std::max(error, std::abs(back[i] - a[i]));
  }
  return error < 1e-10 * n;
}

}  // namespace

double BlasTiming::gflops() const noexcept {
  if (gemm_gflops <= 0 || potrf_gflops <= 0) return 0;
  return 20 / (19 / gemm_gflops + 1 / potrf_gflops);
}

int time_blas_main(const std::vector<std::string>& arguments) {
  const auto tile = arguments.size() == 3 ? number(arguments[1]) : std::nullopt;
  const auto milliseconds = arguments.size() == 3 ? number(arguments[2]) : std::nullopt;
  if (!tile || !milliseconds) {
    std::fputs("fairlead: timing a BLAS needs: LIBRARY TILE MILLISECONDS\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whoever started this waits for it
  ::alarm(static_cast<unsigned>(*milliseconds / 1000 + 1));
  try {
    const auto blas = Blas::load({.blas = arguments[0], .lapack = {}});
    if (!computes_correctly(*blas)) throw NumericalError(blas->path() + " computes wrong results");
    const auto rates = measure<double>(*blas, {.tile = *tile,
                                               .per_kernel = std::chrono::milliseconds(*milliseconds) / 12,
                                               .gemm_and_potrf_only = true});
    fmt::print("fairlead-blas-timing\t1\t{}\t{}\t{:.3f}\t{:.3f}\n", blas->path(), blas->core_type(),
               rates.gemm, rates.potrf);
    return 0;
  } catch (const std::exception& error) {
    fmt::print("fairlead-blas-failure\t1\t{}\n", error.what());
    return 1;
  }
}

}  // namespace fairlead::linalg
