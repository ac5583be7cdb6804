// A tiled Cholesky factorization of the lower triangle.
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/cholesky_tasks.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

struct CholeskySink {
  Program& program;
  const ProgramMatrix& a;
  KernelIndex potrf_kernel, trsm_kernel, syrk_kernel, gemm_kernel;

  void potrf(std::int32_t k, std::int32_t priority) {
    const std::int64_t n = a.height(k);
    program.task(dense_task(potrf_kernel, linalg::potrf_flops(static_cast<double>(n)), n, n, n, priority, k),
                 {{a(k, k), AccessMode::read_write}});
  }
  void trsm(std::int32_t m, std::int32_t k, std::int32_t priority) {
    const std::int64_t rows = a.height(m), n = a.height(k);
    program.task(
        dense_task(trsm_kernel, linalg::trsm_flops(static_cast<double>(rows), static_cast<double>(n)), rows,
                   n, n, priority, k),
        {{a(k, k), AccessMode::read}, {a(m, k), AccessMode::read_write}});
  }
  void syrk(std::int32_t j, std::int32_t k, std::int32_t priority) {
    const std::int64_t n = a.height(j), inner = a.height(k);
    program.task(
        dense_task(syrk_kernel, linalg::syrk_flops(static_cast<double>(n), static_cast<double>(inner)), n, n,
                   inner, priority, k),
        {{a(j, k), AccessMode::read}, {a(j, j), AccessMode::read_write}});
  }
  void gemm(std::int32_t m, std::int32_t j, std::int32_t k, std::int32_t priority) {
    const std::int64_t rows = a.height(m), columns = a.height(j), inner = a.height(k);
    program.task(
        dense_task(gemm_kernel,
                   linalg::gemm_flops(static_cast<double>(rows), static_cast<double>(columns),
                                      static_cast<double>(inner)),
                   rows, columns, inner, priority, k),
        {{a(m, k), AccessMode::read}, {a(j, k), AccessMode::read}, {a(m, j), AccessMode::read_write}});
  }
};

}  // namespace

Program make_cholesky(const WorkloadSize& size, const PolicyOptions&) {
  Program program;
  program.title = title_of("cholesky", size);
  const ProgramMatrix a(program, "A", size.n, size.n, size.tile, size.precision, Tiles::lower);
  linalg::for_each_cholesky_task(a.row_count(),
                                 CholeskySink{program, a, program.kernel("potrf"), program.kernel("trsm"),
                                              program.kernel("syrk"), program.kernel("gemm")});
  return program;
}

report::IoBounds cholesky_io(const WorkloadSize& size, Bytes memory) {
  return report::cholesky_bounds(static_cast<std::uint64_t>(size.n), element_bytes(size.precision), memory);
}

}  // namespace fairlead::simulate
