// See clblast.hpp.
#include "algorithms/linalg/opencl/clblast.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <mutex>
#include <string>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

namespace {

constexpr int column_major = 102, as_it_is = 111, transposed = 112;
constexpr int no_double_precision = -2044;

int number_of(Transpose op) noexcept { return op == Transpose::yes ? transposed : as_it_is; }

void check_clblast(const OpenclQueue& queue, int status) {
  if (status == no_double_precision)
    throw SystemError("CLBlast: the device does not compute in double precision");
  if (status <= -1024)  // CLBlast's own error numbers; others are OpenCL's
    throw SystemError(fmt::format("CLBlast refuses a product: its error {} (clblast_c.h)", status));
  queue.check(status, "CLBlast: a product");
}

}  // namespace

Clblast::Clblast(const OpenclQueue& queue) {
  const SharedLibrary library = [] {
    try {
      return SharedLibrary::open("libclblast.so.1");
    } catch (const SystemError& error) {
      throw SystemError(
          fmt::format("{}\n  Products on OpenCL devices are CLBlast's: it has to be there.", error.what()));
    }
  }();
  const auto find = [&](auto*& function, const char* name) {
    function = library.require<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
  };
  find(double_.temporary, "CLBlastDGemmTempBufferSize");
  find(double_.gemm, "CLBlastDgemmWithTempBuffer");
  find(float_.temporary, "CLBlastSGemmTempBufferSize");
  find(float_.gemm, "CLBlastSgemmWithTempBuffer");
  fill_tables_of_the_process(queue);
}

/// CLBlast fills a table of parameters at the first call in a process, without a lock (Database::Database; later
/// versions than 1.5.3, too): two concurrent first calls crash or throw bad_alloc. The table belongs to the process,
/// hence a static mutex.
void Clblast::fill_tables_of_the_process(const OpenclQueue& queue) const {
  static std::mutex first_call;
  const std::lock_guard lock(first_call);
  _cl_command_queue* in = queue;
  std::size_t bytes = 0;
  check_clblast(queue,
                float_.temporary(column_major, as_it_is, as_it_is, 1, 1, 1, 0, 1, 0, 1, 0, 1, &in, &bytes));
}

template <Real T>
std::size_t Clblast::workspace_of_gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b,
                                       std::size_t m, std::size_t n, std::size_t k, const OpenclBuffer& a,
                                       std::size_t lda, const OpenclBuffer& b, std::size_t ldb,
                                       const OpenclBuffer& c, std::size_t ldc) const {
  _cl_command_queue* in = queue;
  std::size_t bytes = 0;
  check_clblast(queue, table<T>().temporary(column_major, number_of(op_a), number_of(op_b), m, n, k, a.offset,
                                            lda, b.offset, ldb, c.offset, ldc, &in, &bytes));
  return bytes;
}

template <Real T>
void Clblast::gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
                   std::size_t k, T alpha, const OpenclBuffer& a, std::size_t lda, const OpenclBuffer& b,
                   std::size_t ldb, T beta, const OpenclBuffer& c, std::size_t ldc,
                   _cl_mem* workspace) const {
  _cl_command_queue* in = queue;
  check_clblast(queue, table<T>().gemm(column_major, number_of(op_a), number_of(op_b), m, n, k, alpha,
                                       a.memory, a.offset, lda, b.memory, b.offset, ldb, beta, c.memory,
                                       c.offset, ldc, &in, nullptr, workspace));
}

#define FAIRLEAD_CLBLAST_OF(T)                                                                              \
  template std::size_t Clblast::workspace_of_gemm<T>(                                                       \
      const OpenclQueue&, Transpose, Transpose, std::size_t, std::size_t, std::size_t, const OpenclBuffer&, \
      std::size_t, const OpenclBuffer&, std::size_t, const OpenclBuffer&, std::size_t) const;               \
  template void Clblast::gemm<T>(const OpenclQueue&, Transpose, Transpose, std::size_t, std::size_t,        \
                                 std::size_t, T, const OpenclBuffer&, std::size_t, const OpenclBuffer&,     \
                                 std::size_t, T, const OpenclBuffer&, std::size_t, _cl_mem*) const;
FAIRLEAD_CLBLAST_OF(float)
FAIRLEAD_CLBLAST_OF(double)
#undef FAIRLEAD_CLBLAST_OF

}  // namespace fairlead::linalg
