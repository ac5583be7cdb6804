// CLBlast's products as a table of functions, loaded from its library at run time, so programs without OpenCL devices
// do not need it. CLBlast compiles its kernels at first use on a device.
#pragma once
#include <fairlead/opencl.hpp>

#include <cstddef>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

class Clblast {
 public:
  /// Loads "libclblast.so.1", as found by the loader; afterwards thread-safe. `queue`: of any device. Throws
  /// SystemError with the loader's reason.
  explicit Clblast(const OpenclQueue& queue);

  /// Device memory that C := alpha op(A) op(B) + beta C needs in addition to the matrices, in bytes. Throws
  /// SystemError, as gemm() does.
  template <Real T>
  std::size_t workspace_of_gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m,
                                std::size_t n, std::size_t k, const OpenclBuffer& a, std::size_t lda,
                                const OpenclBuffer& b, std::size_t ldb, const OpenclBuffer& c,
                                std::size_t ldc) const;
  /// Enqueues the product. `workspace`: a cl_mem of the size above; null if that is zero.
  template <Real T>
  void gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const OpenclBuffer& a, std::size_t lda, const OpenclBuffer& b,
            std::size_t ldb, T beta, const OpenclBuffer& c, std::size_t ldc, _cl_mem* workspace) const;

 private:
  // The functions of clblast_c.h, with enumerations as int. A status is 0 or an error number.
  template <class T>
  struct Table {
    using Size = std::size_t;
    int (*temporary)(int layout, int op_a, int op_b, Size m, Size n, Size k, Size a_offset, Size lda,
                     Size b_offset, Size ldb, Size c_offset, Size ldc, _cl_command_queue** queue,
                     Size* bytes) = nullptr;
    int (*gemm)(int layout, int op_a, int op_b, Size m, Size n, Size k, T alpha, _cl_mem* a, Size a_offset,
                Size lda, _cl_mem* b, Size b_offset, Size ldb, T beta, _cl_mem* c, Size c_offset, Size ldc,
                _cl_command_queue** queue, void* event, _cl_mem* temporary) = nullptr;
  };
  template <class T>
  const Table<T>& table() const noexcept {
    if constexpr (std::is_same_v<T, double>) return double_;
    if constexpr (std::is_same_v<T, float>) return float_;
  }
  void fill_tables_of_the_process(const OpenclQueue& queue) const;

  Table<double> double_;
  Table<float> float_;
};

}  // namespace fairlead::linalg
