// The processor, as needed to select kernels: its name, and the core types of BLAS libraries that it can run. MKL is
// not covered: it detects the processors of its vendor, and ignores the setting on others (MKL_ENABLE_INSTRUCTIONS,
// tried with MKL 2026.2 on a Zen 5).
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::linalg {

struct CpuInfo {
  std::string model;            ///< "AMD EPYC, family 26, model 2, stepping 1"
  std::set<std::string> flags;  ///< "avx2", "avx512f", ...; empty if unknown
};

/// Parses the first processor in the text of /proc/cpuinfo.
CpuInfo parse_cpuinfo(const std::string& text);

/// This machine's processor; name and flags are empty if the system does not provide them.
CpuInfo this_processor();

/// The values for the environment variable OPENBLAS_CORETYPE or BLIS_ARCH_TYPE whose instructions `processor` has,
/// oldest first. Types that a newer one in the list replaces entirely (those before AVX2 on a machine with AVX2) are
/// omitted. Empty for other variables.
std::vector<std::string> core_types(const CpuInfo& processor,
                                    std::string_view variable = "OPENBLAS_CORETYPE");

}  // namespace fairlead::linalg
