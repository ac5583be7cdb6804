// The processor, as far as choosing kernels goes: its name, and which core types of the libraries it can run.
// MKL is not told any: it knows the processors of its maker, and on others ignores what it is told
// (MKL_ENABLE_INSTRUCTIONS, tried with MKL 2026.2 on a Zen 5).
#pragma once
#include <set>
#include <string>
#include <string_view>
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

/// The names that a library takes from the environment variable OPENBLAS_CORETYPE, or BLIS_ARCH_TYPE, whose
/// instructions `processor` has, oldest first. Those that an even newer one on the list replaces in every
/// respect (anything before AVX2 on a machine that has it) are left out. None for other variables.
std::vector<std::string> core_types(const Processor& processor,
                                    std::string_view variable = "OPENBLAS_CORETYPE");

}  // namespace fairlead::linalg
