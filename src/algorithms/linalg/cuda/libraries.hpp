// cuBLAS and cuSOLVER as tables of functions, loaded from their libraries at run time, and a handle of each per stream.
#pragma once
#include <fairlead/cuda.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The types behind cublasHandle_t and cusolverDnHandle_t.
struct cublasContext;
struct cusolverDnContext;

namespace fairlead::linalg {

/// The functions of cublas_v2.h, with enumerations as int. A status is 0 or an error number.
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
  /// Loads "libcublas.so.13" or an older version, as found by the loader. Throws SystemError with the loader's reason.
  static Cublas load();

  enum class Math : std::uint8_t { full = 0, tf32 = 3 };  ///< CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH
  /// The handle of the stream, with its workspace and this math mode. Throws SystemError.
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

/// The functions of cusolverDn.h.
struct Cusolver {
  template <class T>
  struct Of {
    int (*potrf_elements)(cusolverDnContext*, int fill, int n, T* a, int lda, int* elements) = nullptr;
    int (*potrf)(cusolverDnContext*, int fill, int n, T* a, int lda, T* work, int elements,
                 int* info) = nullptr;
    int (*getrf_elements)(cusolverDnContext*, int m, int n, T* a, int lda, int* elements) = nullptr;
    /// Null `pivots`: no pivoting.
    int (*getrf)(cusolverDnContext*, int m, int n, T* a, int lda, T* work, int* pivots, int* info) = nullptr;
  };
  /// Loads "libcusolver.so.12" or an older version.
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

/// Throw SystemError if the status is an error.
void check_cublas(int status, const char* what);
void check_cusolver(int status, const char* what);

}  // namespace fairlead::linalg
