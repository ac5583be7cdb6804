// Core types on x86-64 and the instructions that their kernels use: those of OpenBLAS (its driver/others/dynamic.c),
// and of BLIS and AOCL (frame/base/bli_cpuid.c).
#include "algorithms/linalg/blas/core_types.hpp"
#include "base/file_descriptor.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <sstream>

namespace fairlead::linalg {
namespace {

struct CoreType {
  const char* name;
  std::array<std::string_view, 10> required_flags;  // flags of /proc/cpuinfo; padded with empty ones
  const char* obsolete_with;  // a flag of processors with a better type; null: never obsolete
};

const std::array openblas_core_types{
    CoreType{"Nehalem", {"sse4_2"}, "avx"},
    CoreType{"Sandybridge", {"avx"}, "avx2"},
    CoreType{"Haswell", {"avx2", "fma"}, nullptr},
    CoreType{"Zen", {"avx2", "fma"}, nullptr},
    CoreType{"SkylakeX", {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}, nullptr},
    CoreType{"Cooperlake",
             {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd", "avx512_bf16"},
             nullptr},
    CoreType{"SapphireRapids",
             {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd", "avx512_bf16",
              "amx_tile", "amx_bf16"},
             nullptr},
};

const std::array blis_core_types{
    CoreType{"haswell", {"avx2", "fma"}, nullptr},
    CoreType{"zen", {"avx2", "fma"}, nullptr},
    CoreType{"zen2", {"avx2", "fma"}, nullptr},
    CoreType{"zen3", {"avx2", "fma"}, nullptr},
    CoreType{"skx", {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"}, nullptr},
    CoreType{"zen4", {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"}, nullptr},
    CoreType{"zen5", {"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"}, nullptr},
};

}  // namespace

CpuInfo parse_cpuinfo(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto name_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    const auto value = line.find_first_not_of(" \t", colon + 1);
    fields[line.substr(0, name_end + 1)] = value == std::string::npos ? "" : line.substr(value);
  }
  CpuInfo processor;
  if (fields.contains("model name"))
    processor.model = fields["model name"] + ", family " + fields["cpu family"] + ", model " +
                      fields["model"] + ", stepping " + fields["stepping"];
  std::istringstream flags(fields["flags"]);
  processor.flags.insert(std::istream_iterator<std::string>(flags), {});
  return processor;
}

CpuInfo this_processor() { return parse_cpuinfo(read_file("/proc/cpuinfo").value_or("")); }

std::vector<std::string> core_types(const CpuInfo& processor, std::string_view variable) {
  std::span<const CoreType> known;
  if (variable == "OPENBLAS_CORETYPE") known = openblas_core_types;
  if (variable == "BLIS_ARCH_TYPE") known = blis_core_types;
  const auto has = [&](std::string_view flag) {
    return flag.empty() || processor.flags.contains(std::string(flag));
  };
  std::vector<std::string> names;
  for (const auto& type : known)
    if (std::ranges::all_of(type.required_flags, has) &&
        !(type.obsolete_with != nullptr && has(type.obsolete_with)))
      names.emplace_back(type.name);
  return names;
}

}  // namespace fairlead::linalg
