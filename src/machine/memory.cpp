// Free memory: the minimum over the machine and all control groups.
#include "machine/memory.hpp"

#include <fairlead/error.hpp>

#include "machine/cgroup.hpp"

#include <unistd.h>
#include <algorithm>
#include <vector>

namespace fairlead::machine {

Bytes memory_margin(Bytes free_bytes) noexcept {
  constexpr Bytes least = Bytes(256) << 20;
  return std::min(std::max(free_bytes / 10, least), free_bytes / 2);
}

namespace {

/// The limit of the address space (RLIMIT_AS, "ulimit -v"), as batch systems set it. Mapped memory counts even if
/// unused.
std::optional<MemoryLimit> address_space_limit(const SystemFiles& files) {
  const auto limit = files.field("/proc/self/limits", "Max address space");  // "unlimited" is not a number
  if (!limit) return std::nullopt;
  return MemoryLimit{*limit, files.field("/proc/self/status", "VmSize").value_or(0),
                     "the limit of address space (ulimit -v)"};
}

}  // namespace

MachineMemory detect_memory(const SystemFiles& files, unsigned workers) {
  const std::string meminfo = files.text("/proc/meminfo").value_or("");
  const auto field = [&](const char* name) { return field_of(meminfo, name); };
  const auto total = field("MemTotal");
  if (!total)
    throw SystemError("cannot read MemTotal in /proc/meminfo: set the amount of memory with --memory");
  MachineMemory found;
  found.total_bytes = *total;
  found.available_bytes =
      field("MemAvailable")
          .value_or(  // since Linux 3.14
              field("MemFree").value_or(0) + field("Buffers").value_or(0) + field("Cached").value_or(0));
  found.free_bytes = found.available_bytes;
  Bytes least_room = 0;
  std::vector<MemoryLimit> limits = memory_limits(files);
  const auto addresses = address_space_limit(files);
  if (addresses) {
    limits.push_back(*addresses);
    found.free_address_space = addresses->free_bytes();
  }
  for (const MemoryLimit& limit : limits) {
    if (limit.limit_bytes >= found.total_bytes) continue;  // larger than the memory: not a real limit
    if (found.limit_bytes && limit.free_bytes() >= least_room) continue;
    least_room = limit.free_bytes();
    found.limit_bytes = limit.limit_bytes;
    found.limit_used_bytes = limit.used_bytes;
    found.limit_source = limit.source;
  }
  if (found.limit_bytes) found.free_bytes = std::min(found.free_bytes, least_room);
  found.margin_bytes = memory_margin(found.free_bytes);
  // Thread stacks and BLAS buffers need address space, even if they are hardly used.
  if (addresses && addresses->source == found.limit_source)
    found.margin_bytes =
        std::min(found.margin_bytes + addresses_of_each_worker * workers, found.free_bytes / 4 * 3);
  return found;
}

std::string_view name_of(HugePageMode mode) noexcept {
  switch (mode) {
    case HugePageMode::unavailable:
      return "unavailable";
    case HugePageMode::never:
      return "never";
    case HugePageMode::madvise:
      return "on request";
    case HugePageMode::always:
      return "always";
  }
  return "?";
}

Pages detect_pages(const SystemFiles& files) {
  Pages found;
  const long page = sysconf(_SC_PAGESIZE);
  if (page > 0) found.page_bytes = static_cast<Bytes>(page);
  const std::string modes = files.text("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  const auto chosen = [&](const char* mode) { return modes.find(mode) != modes.npos; };
  if (chosen("[always]")) found.huge_pages = HugePageMode::always;
  if (chosen("[madvise]")) found.huge_pages = HugePageMode::madvise;
  if (chosen("[never]")) found.huge_pages = HugePageMode::never;
  if (found.huge_pages != HugePageMode::unavailable)
    found.huge_page_bytes = files.number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").value_or(0);
  return found;
}

}  // namespace fairlead::machine
