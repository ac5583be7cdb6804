// What the files of this folder make; see the list in workload.cpp.
#pragma once
#include "simulate/workload.hpp"

namespace fairlead::simulate {

Program make_cholesky(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds cholesky_io(const WorkloadSize& size, Bytes memory);
Program make_lu(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds lu_io(const WorkloadSize& size, Bytes memory);
Program make_gemm(const WorkloadSize& size, const PolicyOptions& options);
report::IoBounds gemm_io(const WorkloadSize& size, Bytes memory);

}  // namespace fairlead::simulate
