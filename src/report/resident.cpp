// Reads /proc/self/status and /proc/self/io.
#include "report/resident.hpp"

#include <malloc.h>

#include <string_view>

#include "machine/system_files.hpp"

namespace fairlead::report {

namespace {

/// The value of a line such as "VmHWM:\t  123456 kB".
std::optional<Bytes> status_bytes(const std::filesystem::path& root, std::string_view name) {
  const auto status = machine::SystemFiles(root).text("/proc/self/status");
  if (!status) return {};
  for (std::string_view line : machine::split(*status, '\n')) {
    constexpr std::string_view unit = " kB";
    if (!line.starts_with(name) || !line.ends_with(unit)) continue;
    line.remove_prefix(name.size());
    line.remove_suffix(unit.size());
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    const auto kib = machine::parse_number(line.substr(begin));
    return kib ? std::optional<Bytes>(*kib * 1024) : std::nullopt;
  }
  return {};
}

}  // namespace

std::optional<Bytes> peak_resident_bytes(const std::filesystem::path& root) {
  return status_bytes(root, "VmHWM:");
}

std::optional<ResidentParts> resident_parts(const std::filesystem::path& root) {
  const auto files = status_bytes(root, "RssFile:");
  if (!files) return {};
  const struct mallinfo2 heap = mallinfo2();
  return ResidentParts{*files, heap.uordblks + heap.hblkhd};
}

std::optional<DiskCounters> disk_counters(const std::filesystem::path& root) {
  const machine::SystemFiles files(root);
  const auto read = files.field("/proc/self/io", "read_bytes");
  const auto written = files.field("/proc/self/io", "write_bytes");
  if (!read || !written) return {};
  return DiskCounters{*read, *written};
}

}  // namespace fairlead::report
