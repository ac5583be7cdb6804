// Fairlead's own matrix products, for processors with AVX-512. In FP64, on tiles of 512 to 1,024, one Zen 4 core
// reaches 50 to 54 of 57 GF/s with these, and 42 to 48 with OpenBLAS 0.3.21. Timing decides which are used
// (choose_kernels.hpp).
//
// The loop order is that of Goto, van de Geijn 2008 ("Anatomy of high-performance matrix multiplication"). The results
// depend only on the arguments.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace fairlead::linalg {

class OwnProducts {
 public:
  /// True if this processor has AVX-512.
  static bool is_supported() noexcept;

  OwnProducts();
  OwnProducts(const OwnProducts&) = delete;
  OwnProducts& operator=(const OwnProducts&) = delete;
  ~OwnProducts();

  /// Reserves memory for `threads` concurrent calls, 2 MiB each; these calls then allocate nothing.
  void reserve(std::size_t threads);

  /// True if own products apply; smaller ones use the library.
  static constexpr bool applies_to(int m, int n, int k) noexcept { return m >= 48 && n >= 32 && k >= 32; }

  enum class Part : unsigned char { whole, lower, upper };

  /// C := alpha op(A) op(B) + beta C, of m x n, or only a part of C; column-major. The rest of C is not accessed. C is
  /// not read if beta is zero. Thread-safe.
  template <class T>
  void multiply(Part part, bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a,
                int lda, const T* b, int ldb, T beta, T* c, int ldc) const;

 private:
  struct Scratch;
  class Lease;
  std::unique_ptr<Scratch> make() const;
  mutable std::mutex mutex_;                              // guards unused_
  mutable std::vector<std::unique_ptr<Scratch>> unused_;  // has capacity for all buffers
  mutable std::size_t made_ = 0;
};

extern template void OwnProducts::multiply<float>(Part, bool, bool, int, int, int, float, const float*, int,
                                                  const float*, int, float, float*, int) const;
extern template void OwnProducts::multiply<double>(Part, bool, bool, int, int, int, double, const double*,
                                                   int, const double*, int, double, double*, int) const;

}  // namespace fairlead::linalg
