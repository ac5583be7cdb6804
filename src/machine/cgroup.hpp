// The control groups that hold this process, version 1, version 2 or both side by side, and the limits they
// set. A limit anywhere between the own group and the root holds, so all levels that can be seen are asked.
#pragma once
#include <fairlead/ids.hpp>

#include "base/time.hpp"
#include "machine/system_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fairlead::machine {

enum class CgroupVersion : std::uint8_t { v1, v2 };

struct CgroupLevel {
  CgroupVersion version;
  std::string directory;  ///< "/sys/fs/cgroup/memory/a/b"
};

/// The groups that may limit this process for `controller` ("cpu", "memory"): from its own up to what is
/// mounted. In a mixed system those of version 1 come first, and those of version 2 have no files of the
/// controller. A container often sees its own group as the root.
std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller);

/// Processor time that a group may use, in processors: 1.5 = 150 ms in every 100 ms.
struct CpuQuota {
  double processors = 0;
  std::string source;  ///< the file that says so
};
/// The tightest one; nothing if there is none.
std::optional<CpuQuota> cpu_quota(const SystemFiles& files);

/// How long threads of this process's groups were held up since their quota of processor time was used up: the longest of
/// any level, summed over processors. 0 where there is no quota.
Duration throttled_time(const SystemFiles& files);

/// One limit of memory and what counts against it.
struct MemoryLimit {
  Bytes limit_bytes = 0;
  Bytes used_bytes = 0;  ///< without the page cache that the kernel takes back first (inactive_file)
  std::string source;    ///< the file that says so
  Bytes room_bytes() const noexcept { return limit_bytes > used_bytes ? limit_bytes - used_bytes : 0; }
};
/// Every limit of every level, from the own group upwards.
std::vector<MemoryLimit> memory_limits(const SystemFiles& files);

}  // namespace fairlead::machine
