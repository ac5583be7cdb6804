// The part of cuBLAS that Fairlead calls: plain loops on cores, executed in stream order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "fake_cuda/library.hpp"

struct cublasContext : fake_cuda::Handle {
  int math = 0;
};
struct cublasXtContext {};

namespace {

using namespace fake_cuda;

constexpr int full_math = 0, tf32_math = 3;

/// A factor as a tensor core reads it in the handle's mode: in TF32, a float rounded to the nearest with 10 bits of mantissa.
template <class T>
T taken(T factor, bool rounds) {
  if constexpr (std::is_same_v<T, float>) {
    if (!rounds || !std::isfinite(factor)) return factor;
    auto bits = std::bit_cast<std::uint32_t>(factor);
    bits += 0xfff + (bits >> 13 & 1);
    return std::bit_cast<float>(bits & ~std::uint32_t{0x1fff});
  }
  return factor;
}
bool rounds_in(const cublasContext* handle) { return handle != nullptr && handle->math == tf32_math; }

template <class T>
int gemm(cublasContext* handle, int op_a, int op_b, int m, int n, int k, T alpha, const T* a, int lda,
         const T* b, int ldb, T beta, T* c, int ldc) {
  if (m < 0 || n < 0 || k < 0 || ldc < m || lda < (op_a == op_no ? m : k) || ldb < (op_b == op_no ? k : n))
    return invalid_value;
  if (m == 0 || n == 0) return good;
  return start(
      handle, "gemm",
      {op_a == op_no ? matrix(a, m, k, lda, false) : matrix(a, k, m, lda, false),
       op_b == op_no ? matrix(b, k, n, ldb, false) : matrix(b, n, k, ldb, false), matrix(c, m, n, ldc, true)},
      [=, rounds = rounds_in(handle)](std::span<std::byte* const> at) {
        const T *x = as<T>(at[0]), *y = as<T>(at[1]);
        T* z = as<T>(at[2]);
        for (std::ptrdiff_t j = 0; j < n; ++j)
          for (std::ptrdiff_t i = 0; i < m; ++i) {
            T sum = 0;
            for (std::ptrdiff_t p = 0; p < k; ++p)
              sum += taken(op_a == op_no ? x[i + p * lda] : x[p + i * lda], rounds) *
                     taken(op_b == op_no ? y[p + j * ldb] : y[j + p * ldb], rounds);
            T& to = z[i + j * ldc];
            to = alpha * sum + (beta == 0 ? 0 : beta * to);
          }
      });
}

template <class T>
int syrk(cublasContext* handle, int fill, int op, int n, int k, T alpha, const T* a, int lda, T beta, T* c,
         int ldc) {
  if (fill != fill_lower || op != op_no || lda < n || ldc < n) return invalid_value;
  return start(handle, "syrk", {matrix(a, n, k, lda, false), matrix(c, n, n, ldc, true)},
               [=, rounds = rounds_in(handle)](std::span<std::byte* const> at) {
                 const T* x = as<T>(at[0]);
                 T* z = as<T>(at[1]);
                 for (std::ptrdiff_t j = 0; j < n; ++j)
                   for (std::ptrdiff_t i = j; i < n; ++i) {
                     T sum = 0;
                     for (std::ptrdiff_t p = 0; p < k; ++p)
                       sum += taken(x[i + p * lda], rounds) * taken(x[j + p * lda], rounds);
                     z[i + j * ldc] = alpha * sum + beta * z[i + j * ldc];
                   }
               });
}

/// B := alpha op(A)^-1 B or alpha B op(A)^-1.
template <class T>
int trsm(cublasContext* handle, int side, int fill, int op, int diagonal, int m, int n, T alpha, const T* a,
         int lda, T* b, int ldb) {
  const int order = side == side_left ? m : n;
  if (lda < order || ldb < m) return invalid_value;
  return start(handle, "trsm", {matrix(a, order, order, lda, false), matrix(b, m, n, ldb, true)},
               [=, rounds = rounds_in(handle)](std::span<std::byte* const> at) {
                 const T* t = as<T>(at[0]);
                 T* x = as<T>(at[1]);
                 // Left: op(A) x = b for each column; right: op(A)^T x = b for each row.
                 const bool across = (op == op_yes) != (side != side_left);
                 const auto element = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
                   return across ? t[j + i * lda] : t[i + j * lda];
                 };
                 const bool forward = (fill == fill_lower) != across;
                 const std::ptrdiff_t along = side == side_left ? 1 : ldb, next = side == side_left ? ldb : 1;
                 for (std::ptrdiff_t r = 0; r < (side == side_left ? n : m); ++r)
                   for (std::ptrdiff_t s = 0; s < order; ++s) {
                     const std::ptrdiff_t i = forward ? s : order - 1 - s;
                     T sum = alpha * x[r * next + i * along];
                     for (std::ptrdiff_t p = 0; p < s; ++p) {
                       const std::ptrdiff_t j = forward ? p : order - 1 - p;
                       sum -= taken(element(i, j), rounds) * taken(x[r * next + j * along], rounds);
                     }
                     x[r * next + i * along] = diagonal == diagonal_unit ? sum : sum / element(i, i);
                   }
               });
}

/// C := alpha op(A) B, which may be the same matrix.
template <class T>
int trmm(cublasContext* handle, int side, int fill, int op, int diagonal, int m, int n, T alpha, const T* a,
         int lda, const T* b, int ldb, T* c, int ldc) {
  if (side != side_left || lda < m || ldb < m || ldc < m || (b == c && ldb != ldc)) return invalid_value;
  if (m == 0 || n == 0) return good;
  std::vector<Access> accesses{matrix(a, m, m, lda, false), matrix(c, m, n, ldc, true)};
  if (b != c) accesses.push_back(matrix(b, m, n, ldb, false));
  return start(handle, "trmm", std::move(accesses), [=](std::span<std::byte* const> at) {
    const T* t = as<T>(at[0]);
    T* z = as<T>(at[1]);
    const T* x = at.size() > 3 ? as<T>(at[2]) : z;  // the last is the workspace
    const bool lower_of_op = (fill == fill_lower) != (op == op_yes);
    std::vector<T> column(static_cast<std::size_t>(m));
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        T sum = diagonal == diagonal_unit ? x[i + j * ldb] : t[i + i * lda] * x[i + j * ldb];
        for (std::ptrdiff_t p = lower_of_op ? 0 : i + 1; p < (lower_of_op ? i : m); ++p)
          sum += (op == op_yes ? t[p + i * lda] : t[i + p * lda]) * x[p + j * ldb];
        column[static_cast<std::size_t>(i)] = alpha * sum;
      }
      std::copy(column.begin(), column.end(), z + j * ldc);
    }
  });
}

}  // namespace

extern "C" {

int cublasCreate_v2(cublasContext** handle) { return create("cublasCreate_v2", handle); }
int cublasDestroy_v2(cublasContext* handle) {
  if (called("cublasDestroy_v2") != 0) return failed;
  delete handle;
  return good;
}
int cublasSetStream_v2(cublasContext* handle, CUstream_st* stream) {
  if (called("cublasSetStream_v2") != 0) return failed;
  handle->stream = stream;
  handle->workspace = nullptr;  // as the real one does
  return good;
}
int cublasSetWorkspace_v2(cublasContext* handle, void* workspace, std::size_t bytes) {
  if (called("cublasSetWorkspace_v2") != 0) return failed;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return good;
}
int cublasSetMathMode(cublasContext* handle, int mode) {
  if (called("cublasSetMathMode") != 0) return failed;
  if (mode != full_math && mode != tf32_math) return invalid_value;
  handle->math = mode;
  return good;
}
#define FAKE_CUBLAS_OF(letter, T)                                                                           \
  int cublas##letter##gemm_v2(cublasContext* h, int op_a, int op_b, int m, int n, int k, const T* alpha,    \
                              const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {     \
    if (called("cublas" #letter "gemm_v2") != 0) return failed;                                             \
    return gemm<T>(h, op_a, op_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                          \
  }                                                                                                         \
  int cublas##letter##syrk_v2(cublasContext* h, int fill, int op, int n, int k, const T* alpha, const T* a, \
                              int lda, const T* beta, T* c, int ldc) {                                      \
    if (called("cublas" #letter "syrk_v2") != 0) return failed;                                             \
    return syrk<T>(h, fill, op, n, k, *alpha, a, lda, *beta, c, ldc);                                       \
  }                                                                                                         \
  int cublas##letter##trsm_v2(cublasContext* h, int side, int fill, int op, int diagonal, int m, int n,     \
                              const T* alpha, const T* a, int lda, T* b, int ldb) {                         \
    if (called("cublas" #letter "trsm_v2") != 0) return failed;                                             \
    return trsm<T>(h, side, fill, op, diagonal, m, n, *alpha, a, lda, b, ldb);                              \
  }                                                                                                         \
  int cublas##letter##trmm_v2(cublasContext* h, int side, int fill, int op, int diagonal, int m, int n,     \
                              const T* alpha, const T* a, int lda, const T* b, int ldb, T* c, int ldc) {    \
    if (called("cublas" #letter "trmm_v2") != 0) return failed;                                             \
    return trmm<T>(h, side, fill, op, diagonal, m, n, *alpha, a, lda, b, ldb, c, ldc);                      \
  }
FAKE_CUBLAS_OF(S, float)
FAKE_CUBLAS_OF(D, double)

// Of cublasXt what it gives, which is all in RAM; nothing goes to a device.
int cublasXtCreate(cublasXtContext** handle) {
  *handle = new cublasXtContext;
  return good;
}
int cublasXtDestroy(cublasXtContext* handle) {
  delete handle;
  return good;
}
int cublasXtDeviceSelect(cublasXtContext*, int count, int*) { return count == 1 ? good : invalid_value; }
int cublasXtSetBlockDim(cublasXtContext*, int side) { return side > 0 ? good : invalid_value; }
int cublasXtSetPinningMemMode(cublasXtContext*, int) { return good; }
int cublasXtDgemm(cublasXtContext*, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k,
                  const double* alpha, const double* a, std::size_t lda, const double* b, std::size_t ldb,
                  const double* beta, double* c, std::size_t ldc) {
  if (op_a != op_no || op_b != op_no || lda < m || ldb < k || ldc < m) return invalid_value;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p) sum += a[i + p * lda] * b[p + j * ldb];
      c[i + j * ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * ldc]);
    }
  return good;
}

}  // extern "C"
