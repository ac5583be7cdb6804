// Free memory: the least of what the machine and every control group leave.
#include "machine/memory.hpp"

#include <fairlead/error.hpp>

#include "machine/cgroup.hpp"

#include <unistd.h>
#include <algorithm>

namespace fairlead::machine {

Bytes margin_of(Bytes free_bytes) noexcept {
  constexpr Bytes least = Bytes(256) << 20;
  return std::min(std::max(free_bytes / 10, least), free_bytes / 2);
}

Memory memory(const SystemFiles& files) {
  constexpr const char* meminfo = "/proc/meminfo";
  const auto field = [&](const char* name) { return files.field(meminfo, name); };
  const auto total = field("MemTotal");
  if (!total)
    throw SystemError("cannot read MemTotal in /proc/meminfo: how much memory is there? Say --memory.");
  Memory found;
  found.total_bytes = *total;
  found.available_bytes =
      field("MemAvailable")
          .value_or(  // since Linux 3.14
              field("MemFree").value_or(0) + field("Buffers").value_or(0) + field("Cached").value_or(0));
  found.free_bytes = found.available_bytes;
  Bytes least_room = 0;
  for (const MemoryLimit& limit : memory_limits(files)) {
    if (limit.limit_bytes >= found.total_bytes) continue;  // no limit to speak of
    if (found.limit_bytes && limit.room_bytes() >= least_room) continue;
    least_room = limit.room_bytes();
    found.limit_bytes = limit.limit_bytes;
    found.limit_used_bytes = limit.used_bytes;
    found.limit_source = limit.source;
  }
  if (found.limit_bytes) found.free_bytes = std::min(found.free_bytes, least_room);
  found.margin_bytes = margin_of(found.free_bytes);
  return found;
}

std::string_view name_of(HugePages mode) noexcept {
  switch (mode) {
    case HugePages::unavailable:
      return "unavailable";
    case HugePages::never:
      return "never";
    case HugePages::madvise:
      return "on request";
    case HugePages::always:
      return "always";
  }
  return "?";
}

Pages pages(const SystemFiles& files) {
  Pages found;
  const long page = sysconf(_SC_PAGESIZE);
  if (page > 0) found.page_bytes = static_cast<Bytes>(page);
  const std::string modes = files.text("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  const auto chosen = [&](const char* mode) { return modes.find(mode) != modes.npos; };
  if (chosen("[always]")) found.huge_pages = HugePages::always;
  if (chosen("[madvise]")) found.huge_pages = HugePages::madvise;
  if (chosen("[never]")) found.huge_pages = HugePages::never;
  if (found.huge_pages != HugePages::unavailable)
    found.huge_page_bytes = files.number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").value_or(0);
  return found;
}

}  // namespace fairlead::machine
