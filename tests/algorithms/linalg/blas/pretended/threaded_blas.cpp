// A BLAS that ignores the thread limit: it forwards to the library it is linked with, and a second thread computes while
// dgemm_ runs.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

using Int = const std::int32_t*;
using Char = const char*;

extern "C" void dgemm_(Char op_a, Char op_b, Int m, Int n, Int k, const double* alpha, const double* a,
                       Int lda, const double* b, Int ldb, const double* beta, double* c, Int ldc,
                       std::size_t one, std::size_t other) {
  static const auto real = reinterpret_cast<decltype(&dgemm_)>(::dlsym(RTLD_NEXT, "dgemm_"));
  std::atomic<bool> over = false, running = false;
  std::thread second([&] {
    running = true;
    while (!over) continue;
  });
  while (!running) continue;
  real(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, one, other);
  over = true;
  second.join();
}
