// See libraries.hpp.
#include "algorithms/linalg/cuda/libraries.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "base/shared_library.hpp"

namespace fairlead::linalg {

namespace {

/// Opens the first library that exists; the newest is listed first. If none does, throws the error for the newest, with
/// the purpose of the library.
SharedLibrary open_first(std::initializer_list<const char*> names, const char* what_for) {
  std::optional<std::string> first_error;
  for (const char* name : names) {
    try {
      return SharedLibrary::open(name);
    } catch (const SystemError& error) {
      if (!first_error) first_error = error.what();
    }
  }
  throw SystemError(
      fmt::format("{}\n  {}: it has to be there, in this version or an older one.", *first_error, what_for));
}

template <class Function>
void find(const SharedLibrary& library, Function*& function, const char* name) {
  function = library.require<Function>(name);
}

template <class Table, class Context>
struct Handle {
  Handle(const Table& from, const CudaStream& stream, void (*check)(int, const char*), const char* create,
         const char* set_stream)
      : table(from) {
    check(table.create(&context), create);
    try {
      check(table.set_stream(context, stream), set_stream);
    } catch (...) {
      table.destroy(context);
      throw;
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { table.destroy(context); }

  const Table table;  // a copy: the stream may keep the handle longer than its creator lives
  Context* context = nullptr;
  Cublas::Math math = Cublas::Math::full;  // for cuBLAS
};

void check(int status, const char* what, const char* library) {
  if (status != 0) throw SystemError(fmt::format("{}: {}: its error {}", library, what, status));
}

}  // namespace

void check_cublas(int status, const char* what) { check(status, what, "cuBLAS"); }
void check_cusolver(int status, const char* what) { check(status, what, "cuSOLVER"); }

Cublas Cublas::load() {
  const SharedLibrary library = open_first({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                                           "Products on CUDA devices are cuBLAS's");
  Cublas table;
  find(library, table.create, "cublasCreate_v2");
  find(library, table.destroy, "cublasDestroy_v2");
  find(library, table.set_stream, "cublasSetStream_v2");
  find(library, table.set_workspace, "cublasSetWorkspace_v2");
  find(library, table.set_math, "cublasSetMathMode");
  find(library, table.doubles.gemm, "cublasDgemm_v2");
  find(library, table.doubles.syrk, "cublasDsyrk_v2");
  find(library, table.doubles.trsm, "cublasDtrsm_v2");
  find(library, table.doubles.trmm, "cublasDtrmm_v2");
  find(library, table.floats.gemm, "cublasSgemm_v2");
  find(library, table.floats.syrk, "cublasSsyrk_v2");
  find(library, table.floats.trsm, "cublasStrsm_v2");
  find(library, table.floats.trmm, "cublasStrmm_v2");
  return table;
}

cublasContext* Cublas::handle(const CudaStream& stream, Math math) const {
  using Kept = Handle<Cublas, cublasContext>;
  const auto make = [&] {
    auto made = std::make_unique<Kept>(*this, stream, check_cublas, "cublasCreate", "cublasSetStream");
    // Must follow the stream, which resets it. Without it cuBLAS allocates memory outside the memory limit.
    check_cublas(set_workspace(made->context, stream.workspace(), stream.workspace_bytes()),
                 "cublasSetWorkspace");
    return made.release();
  };
  Kept& kept = stream.kept<Kept>(make);
  if (kept.math != math) {
    check_cublas(set_math(kept.context, static_cast<int>(math)), "cublasSetMathMode");
    kept.math = math;
  }
  return kept.context;
}

Cusolver Cusolver::load() {
  const SharedLibrary library = open_first({"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so.10"},
                                           "Factorizations of tiles on CUDA devices are cuSOLVER's");
  Cusolver table;
  find(library, table.create, "cusolverDnCreate");
  find(library, table.destroy, "cusolverDnDestroy");
  find(library, table.set_stream, "cusolverDnSetStream");
  find(library, table.doubles.potrf_elements, "cusolverDnDpotrf_bufferSize");
  find(library, table.doubles.potrf, "cusolverDnDpotrf");
  find(library, table.doubles.getrf_elements, "cusolverDnDgetrf_bufferSize");
  find(library, table.doubles.getrf, "cusolverDnDgetrf");
  find(library, table.floats.getrf_elements, "cusolverDnSgetrf_bufferSize");
  find(library, table.floats.getrf, "cusolverDnSgetrf");
  find(library, table.floats.potrf_elements, "cusolverDnSpotrf_bufferSize");
  find(library, table.floats.potrf, "cusolverDnSpotrf");
  return table;
}

cusolverDnContext* Cusolver::handle(const CudaStream& stream) const {
  using Kept = Handle<Cusolver, cusolverDnContext>;
  return stream
      .kept<Kept>(
          [&] { return new Kept(*this, stream, check_cusolver, "cusolverDnCreate", "cusolverDnSetStream"); })
      .context;
}

}  // namespace fairlead::linalg
