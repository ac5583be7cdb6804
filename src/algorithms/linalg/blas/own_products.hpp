// Products with kernels of Fairlead's own, for processors with AVX-512. In FP64, on tiles of 512 to 1,024, one Zen 4 core
// computes with OpenBLAS 0.3.21 at 42 to 48 of 57 GF/s, with these at 50 to 54. Whether they are the quicker ones is
// found out by timing (choose_kernels.hpp).
//
// The order of the loops is that of Goto, van de Geijn 2008 ("Anatomy of high-performance matrix multiplication").
// Results depend on the arguments alone.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace fairlead::linalg {

class OwnProducts {
 public:
  /// Whether this processor has the instructions.
  static bool possible() noexcept;

  OwnProducts();
  OwnProducts(const OwnProducts&) = delete;
  OwnProducts& operator=(const OwnProducts&) = delete;
  ~OwnProducts();

  /// So many threads can call at once from then on without taking memory: 2 MiB each.
  void take(std::size_t threads);

  /// Smaller ones are left to the library.
  static constexpr bool large_enough(int m, int n, int k) noexcept { return m >= 48 && n >= 32 && k >= 32; }

  enum class Part : unsigned char { whole, lower, upper };

  /// C := alpha op(A) op(B) + beta C of m x n, or a part of it, in column-major order; what is beside the part is
  /// not touched. C is not read if beta is zero. Any thread.
  template <class T>
  void multiply(Part part, bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a,
                int lda, const T* b, int ldb, T beta, T* c, int ldc) const;

 private:
  struct Scratch;
  class Lease;
  std::unique_ptr<Scratch> make() const;
  mutable std::mutex mutex_;                              // guards unused_
  mutable std::vector<std::unique_ptr<Scratch>> unused_;  // has room for all
  mutable std::size_t made_ = 0;
};

extern template void OwnProducts::multiply<float>(Part, bool, bool, int, int, int, float, const float*, int,
                                                  const float*, int, float, float*, int) const;
extern template void OwnProducts::multiply<double>(Part, bool, bool, int, int, int, double, const double*,
                                                   int, const double*, int, double, double*, int) const;

}  // namespace fairlead::linalg
