// A tiled matrix product C += A B of square matrices. All priorities are equal, since no task is critical.
#include "algorithms/linalg/blas/flops.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

Program make_gemm(const WorkloadSize& size, const PolicyOptions&) {
  Program program;
  program.title = title_of("gemm", size);
  const auto matrix = [&](std::string_view name) {
    return ProgramMatrix(program, name, size.n, size.n, size.tile, size.precision);
  };
  const ProgramMatrix a = matrix("A"), b = matrix("B"), c = matrix("C");
  const KernelIndex gemm = program.kernel("gemm");
  for (std::int32_t i = 0; i < c.row_count(); ++i)
    for (std::int32_t j = 0; j < c.column_count(); ++j)
      for (std::int32_t k = 0; k < a.column_count(); ++k) {
        const std::int64_t rows = c.height(i), columns = c.width(j), inner = a.width(k);
        program.task(
            dense_task(gemm,
                       linalg::gemm_flops(static_cast<double>(rows), static_cast<double>(columns),
                                          static_cast<double>(inner)),
                       rows, columns, inner, 0, k),
            {{a(i, k), AccessMode::read}, {b(k, j), AccessMode::read}, {c(i, j), AccessMode::read_write}});
      }
  return program;
}

report::IoBounds gemm_io(const WorkloadSize& size, Bytes memory) {
  const auto n = static_cast<std::uint64_t>(size.n);
  return report::gemm_bounds(n, n, n, element_bytes(size.precision), memory);
}

}  // namespace fairlead::simulate
