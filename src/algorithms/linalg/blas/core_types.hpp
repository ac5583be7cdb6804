// The processor, as far as choosing kernels goes: its name, and which of OpenBLAS's core types it can run.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace fairlead::linalg {

struct Processor {
  std::string model;            ///< "AMD EPYC, family 26, model 2, stepping 1"
  std::set<std::string> flags;  ///< "avx2", "avx512f", ...; empty if unknown
};

/// What the text of /proc/cpuinfo says about its first processor.
Processor parse_cpuinfo(const std::string& text);

/// This machine's processor; without a name and flags if the system does not tell.
Processor this_processor();

/// The names that OPENBLAS_CORETYPE takes whose instructions `processor` has, oldest first. Those that an
/// even newer one on the list replaces in every respect (anything before AVX2 on a machine that has it) are
/// left out.
std::vector<std::string> core_types(const Processor& processor);

}  // namespace fairlead::linalg
