// CLBlast's products as a table of functions, filled at run time from its library: a program that uses no OpenCL device
// needs none. It compiles its kernels when a device first needs them.
#pragma once
#include <fairlead/opencl.hpp>

#include <cstddef>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

class Clblast {
 public:
  /// "libclblast.so.1", as the loader finds it, ready for any thread. The queue: of any device. Throws SystemError, with
  /// the loader's reason.
  explicit Clblast(const OpenclQueue& queue);

  /// Of the device's memory that C := alpha op(A) op(B) + beta C takes beside the matrices, in bytes. Throws
  /// SystemError, as gemm() does.
  template <Real T>
  std::size_t workspace_of_gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m,
                                std::size_t n, std::size_t k, const OpenclBuffer& a, std::size_t lda,
                                const OpenclBuffer& b, std::size_t ldb, const OpenclBuffer& c,
                                std::size_t ldc) const;
  /// Puts it into the queue. `workspace`: a cl_mem of that size; null if it takes none.
  template <Real T>
  void gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
            std::size_t k, T alpha, const OpenclBuffer& a, std::size_t lda, const OpenclBuffer& b,
            std::size_t ldb, T beta, const OpenclBuffer& c, std::size_t ldc, _cl_mem* workspace) const;

 private:
  // As in clblast_c.h: enumerations are int there, a status is 0 or an error's number.
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
