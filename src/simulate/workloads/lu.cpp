// A tiled LU factorization without pivoting.
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/lu_tasks.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

struct LuSink {
  Program& program;
  const ProgramMatrix& a;
  KernelIndex getrf_kernel, trsm_kernel, gemm_kernel;

  void getrf(std::int32_t k, std::int32_t priority) {
    const std::int64_t n = a.height(k);
    program.task(dense_task(getrf_kernel, linalg::getrf_flops(static_cast<double>(n)), n, n, n, priority, k),
                 {{a(k, k), AccessMode::read_write}});
  }
  void trsm_below(std::int32_t i, std::int32_t k, std::int32_t priority) { trsm(a(i, k), i, k, priority); }
  void trsm_right(std::int32_t i, std::int32_t k, std::int32_t priority) { trsm(a(k, i), i, k, priority); }
  void gemm(std::int32_t m, std::int32_t j, std::int32_t k, std::int32_t priority) {
    const std::int64_t rows = a.height(m), columns = a.height(j), inner = a.height(k);
    program.task(
        dense_task(gemm_kernel,
                   linalg::gemm_flops(static_cast<double>(rows), static_cast<double>(columns),
                                      static_cast<double>(inner)),
                   rows, columns, inner, priority, k),
        {{a(m, k), AccessMode::read}, {a(k, j), AccessMode::read}, {a(m, j), AccessMode::read_write}});
  }

 private:
  void trsm(DatumIndex tile, std::int32_t i, std::int32_t k, std::int32_t priority) {
    const std::int64_t side = a.height(i), n = a.height(k);
    program.task(
        dense_task(trsm_kernel, linalg::trsm_flops(static_cast<double>(side), static_cast<double>(n)), side,
                   n, n, priority, k),
        {{a(k, k), AccessMode::read}, {tile, AccessMode::read_write}});
  }
};

}  // namespace

Program make_lu(const WorkloadSize& size, const PolicyOptions&) {
  Program program;
  program.title = title_of("lu", size);
  const ProgramMatrix a(program, "A", size.n, size.n, size.tile, size.precision);
  linalg::for_each_lu_task(a.row_count(), LuSink{program, a, program.kernel("getrf"), program.kernel("trsm"),
                                                 program.kernel("gemm")});
  return program;
}

report::IoBounds lu_io(const WorkloadSize& size, Bytes memory) {
  return report::lu_bounds(static_cast<std::uint64_t>(size.n), element_bytes(size.precision), memory);
}

}  // namespace fairlead::simulate
