// Reads the host's name and the processor's model from /proc.
#include "machine/identity.hpp"

#include <fmt/format.h>

#include "machine/system_files.hpp"

namespace fairlead::machine {

namespace {

/// The first of these fields in /proc/cpuinfo: x86 has a model name, other processors have numbers.
std::string processor_of(const std::string& cpuinfo) {
  for (const std::string_view wanted : {"model name", "cpu model", "cpu", "CPU part", "uarch"})
    for (const std::string_view line : split(cpuinfo, '\n')) {
      const auto colon = line.find(':');
      if (colon != std::string_view::npos && trim(line.substr(0, colon)) == wanted)
        return std::string(trim(line.substr(colon + 1)));
    }
  return {};
}

}  // namespace

std::string Identity::text() const {
  return fmt::format("{}: {}, {} core{}", host.empty() ? "a host without a name" : host,
                     processor.empty() ? "a processor without a name" : processor, cores,
                     cores == 1 ? "" : "s");
}

Identity identity_of(const Machine& machine, const std::filesystem::path& root) {
  const SystemFiles files(root);
  return {std::string(trim(files.text("/proc/sys/kernel/hostname").value_or(""))),
          processor_of(files.text("/proc/cpuinfo").value_or("")), machine.processors.cores_present};
}

}  // namespace fairlead::machine
