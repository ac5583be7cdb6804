// The dense factorization with which SpLDLT was measured: Cholesky of 20,000 x 20,000 in four types of tasks,
// of which only one runs on devices (Bramas 2019, "Applications"). The paper names neither the types nor the
// tile. Here they are SpLDLT's factorization of a block, solve, update of a block on the diagonal, and update
// of another one, by their LAPACK and BLAS names, so that machines have rates for them: potrf, trsm and syrk
// for cores only, and gemm.
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
