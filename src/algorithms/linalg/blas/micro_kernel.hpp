// The micro-kernel of matrix products (own_products.hpp): a block of C in registers, and packed copies of A and B. For
// processors with AVX-512, whose instructions only these functions use.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#define FAIRLEAD_AVX512 __attribute__((target("avx512f")))
#define FAIRLEAD_AVX512_INLINE inline __attribute__((always_inline, target("avx512f")))

namespace fairlead::linalg::own {

FAIRLEAD_AVX512_INLINE __m512d load(const double* p) { return _mm512_loadu_pd(p); }
FAIRLEAD_AVX512_INLINE __m512 load(const float* p) { return _mm512_loadu_ps(p); }
FAIRLEAD_AVX512_INLINE void store(double* p, __m512d v) { _mm512_storeu_pd(p, v); }
FAIRLEAD_AVX512_INLINE void store(float* p, __m512 v) { _mm512_storeu_ps(p, v); }
FAIRLEAD_AVX512_INLINE __m512d all(double x) { return _mm512_set1_pd(x); }
FAIRLEAD_AVX512_INLINE __m512 all(float x) { return _mm512_set1_ps(x); }
FAIRLEAD_AVX512_INLINE __m512d multiply_add(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
FAIRLEAD_AVX512_INLINE __m512 multiply_add(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }

/// Sizes in elements. `rows` x `columns` of C occupy 24 of the 32 registers. `depth` x `columns` of B fit in the L1
/// cache, `rows_at_once` x `depth` of A in the L2 cache.
template <class T>
struct BlockSizes {
  static constexpr int lanes = 64 / static_cast<int>(sizeof(T));
  static constexpr int rows = 3 * lanes, columns = 8;
  static constexpr int depth = sizeof(T) == 8 ? 256 : 384;
  static constexpr int rows_at_once = sizeof(T) == 8 ? 8 * rows : 6 * rows;
  static constexpr int columns_at_once = sizeof(T) == 8 ? 768 : 1024;
};

/// A matrix or its transpose: one of the two strides is 1.
template <class T>
struct Operand {
  const T* data;
  std::ptrdiff_t stride;        ///< to the next row of op(A), or column of op(B)
  std::ptrdiff_t inner_stride;  ///< to the next element of the inner dimension

  Operand from(int place, int inner) const {
    return {data + place * stride + inner * inner_stride, stride, inner_stride};
  }
};

/// Packs `count` rows by `k` of the inner dimension, in panels of `width` rows; missing rows are filled with zeros.
template <int width, class T>
FAIRLEAD_AVX512 void pack(const Operand<T>& whole, int count, int k, T* to) {
  constexpr int at_once = 8;
  for (int first = 0; first < count; first += width) {
    const Operand<T> from = whole.from(first, 0);
    const int there = std::min(width, count - first);
    if (there == width && from.stride == 1) {
      for (int p = 0; p < k; ++p, to += width) {
        const T* const column = from.data + p * from.inner_stride;
        for (int i = 0; i < width; i += BlockSizes<T>::lanes)
          _mm_prefetch(reinterpret_cast<const char*>(column + width + i), _MM_HINT_T1);
        std::memcpy(to, column, width * sizeof(T));
      }
    } else {
      for (int begin = 0; begin < k; begin += at_once, to += at_once * width) {
        const int steps = std::min(at_once, k - begin);
        for (int i = 0; i < there; ++i) {
          const T* const row = from.data + i * from.stride + begin * from.inner_stride;
          for (int p = 0; p < steps; ++p) to[p * width + i] = row[p * from.inner_stride];
        }
        for (int p = 0; p < steps; ++p)
          for (int i = there; i < width; ++i) to[p * width + i] = 0;
        if (steps < at_once) to -= (at_once - steps) * width;
      }
    }
  }
}

/// Adds the products of `steps` columns of A and rows of B to the sums in registers.
template <class T, class Vector>
FAIRLEAD_AVX512_INLINE void add_steps(int steps, const T*& a, const T*& b, Vector (&sum)[3][8]) {
  using Sizes = BlockSizes<T>;
  constexpr int lanes = Sizes::lanes, ahead = 4 * Sizes::rows;
  for (int p = 0; p < steps; ++p, a += Sizes::rows, b += Sizes::columns) {
    const Vector a0 = load(a), a1 = load(a + lanes), a2 = load(a + 2 * lanes);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i)
      _mm_prefetch(reinterpret_cast<const char*>(a + ahead + i * lanes), _MM_HINT_T0);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      const Vector one = all(b[j]);
      sum[0][j] = multiply_add(a0, one, sum[0][j]);
      sum[1][j] = multiply_add(a1, one, sum[1][j]);
      sum[2][j] = multiply_add(a2, one, sum[2][j]);
    }
  }
}

/// C := C + alpha A B for a block of C, from packed A and B. C is prefetched one column at a time: all columns at once
/// would delay loads that are needed sooner.
template <class T>
FAIRLEAD_AVX512 void add_block(int k, T alpha, const T* a, const T* b, T* c, std::ptrdiff_t ldc) {
  constexpr int lanes = BlockSizes<T>::lanes;
  using Vector = decltype(load(a));
  Vector sum[3][8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) sum[0][j] = sum[1][j] = sum[2][j] = all(T{0});
  const int between = k / 16;
  for (int j = 0; j < 8; ++j) {
    const T* const column = c + j * ldc;
    for (int i = 0; i < 3; ++i) _mm_prefetch(reinterpret_cast<const char*>(column + i * lanes), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(column + 3 * lanes - 1), _MM_HINT_T0);
    add_steps<T>(between, a, b, sum);
  }
  add_steps<T>(k - 8 * between, a, b, sum);
  const Vector factor = all(alpha);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j)
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      T* const place = c + j * ldc + i * lanes;
      store(place, multiply_add(factor, sum[i][j], load(place)));
    }
}

}  // namespace fairlead::linalg::own

#endif
