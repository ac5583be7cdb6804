// cuBLAS and cuSOLVER as tables of functions, filled at run time from their libraries, and a handle of each for a stream.
#pragma once
#include <fairlead/cuda.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// What their headers call cublasHandle_t and cusolverDnHandle_t point to these.
struct cublasContext;
struct cusolverDnContext;

namespace fairlead::linalg {

/// As in cublas_v2.h: enumerations are int there, a status is 0 or an error's number.
struct Cublas {
  template <class T>
  struct Of {
    int (*gemm)(cublasContext*, int op_a, int op_b, int m, int n, int k, const T* alpha, const T* a, int lda,
                const T* b, int ldb, const T* beta, T* c, int ldc) = nullptr;
    int (*syrk)(cublasContext*, int fill, int op, int n, int k, const T* alpha, const T* a, int lda,
                const T* beta, T* c, int ldc) = nullptr;
    int (*trsm)(cublasContext*, int side, int fill, int op, int diagonal, int m, int n, const T* alpha,
                const T* a, int lda, T* b, int ldb) = nullptr;
    int (*trmm)(cublasContext*, int side, int fill, int op, int diagonal, int m, int n, const T* alpha,
                const T* a, int lda, const T* b, int ldb, T* c, int ldc) = nullptr;
  };
  /// "libcublas.so.13" or an older one, as the loader finds it. Throws SystemError, with the loader's reason.
  static Cublas load();

  enum class Math : std::uint8_t { full = 0, tf32 = 3 };  ///< CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH
  /// The stream's own, set to it, its workspace and that mode. Throws SystemError.
  cublasContext* handle(const CudaStream& stream, Math math) const;
  template <class T>
  const Of<T>& of() const noexcept {
    if constexpr (std::is_same_v<T, double>) return doubles;
    if constexpr (std::is_same_v<T, float>) return floats;
  }

  int (*create)(cublasContext**) = nullptr;
  int (*destroy)(cublasContext*) = nullptr;
  int (*set_stream)(cublasContext*, CUstream_st*) = nullptr;
  int (*set_workspace)(cublasContext*, void*, std::size_t) = nullptr;
  int (*set_math)(cublasContext*, int mode) = nullptr;
  Of<double> doubles;
  Of<float> floats;
};

/// As in cusolverDn.h.
struct Cusolver {
  template <class T>
  struct Of {
    int (*potrf_elements)(cusolverDnContext*, int fill, int n, T* a, int lda, int* elements) = nullptr;
    int (*potrf)(cusolverDnContext*, int fill, int n, T* a, int lda, T* work, int elements,
                 int* info) = nullptr;
    int (*getrf_elements)(cusolverDnContext*, int m, int n, T* a, int lda, int* elements) = nullptr;
    /// Without pivots if they are null.
    int (*getrf)(cusolverDnContext*, int m, int n, T* a, int lda, T* work, int* pivots, int* info) = nullptr;
  };
  /// "libcusolver.so.12" or an older one.
  static Cusolver load();

  cusolverDnContext* handle(const CudaStream& stream) const;
  template <class T>
  const Of<T>& of() const noexcept {
    if constexpr (std::is_same_v<T, double>) return doubles;
    if constexpr (std::is_same_v<T, float>) return floats;
  }

  int (*create)(cusolverDnContext**) = nullptr;
  int (*destroy)(cusolverDnContext*) = nullptr;
  int (*set_stream)(cusolverDnContext*, CUstream_st*) = nullptr;
  Of<double> doubles;
  Of<float> floats;
};

/// Throws SystemError if the status is an error of one of them.
void check_cublas(int status, const char* what);
void check_cusolver(int status, const char* what);

}  // namespace fairlead::linalg
