// The dense factorization in the paper's measurements of SpLDLT: Cholesky of 20,000 x 20,000 in four types of tasks,
// only one of which runs on devices (Bramas 2019, "Applications"). The paper names neither the types nor the tile size.
// Here they are SpLDLT's factorization of a block, solve, update of a diagonal block, and update of another block,
// under their LAPACK and BLAS names, for which machines have rates: potrf, trsm and syrk for cores only, and gemm.
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

Program make_ldlt(const WorkloadSize& size, const PolicyOptions& options) {
  Program program = make_cholesky(size, options);
  program.title = title_of("ldlt", size);
  program.cpu_only = {"potrf", "trsm", "syrk"};
  return program;
}

}  // namespace fairlead::simulate
