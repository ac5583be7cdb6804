// The control groups of this process (version 1, version 2, or both) and their limits. Limits apply at every level
// between the process's group and the root, so all visible levels are read.
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

/// The groups that may limit this process for `controller` ("cpu", "memory"), from its own up to the mounted one. If
/// both versions are mounted, groups of version 1 come first; those of version 2 then have no files for the controller.
/// In a container the own group is often the root.
std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller);

/// Processor time that a group may use, in processors: 1.5 is 150 ms of every 100 ms.
struct CpuQuota {
  double processors = 0;
  std::string source;  ///< the file with the quota
};
/// The smallest quota; nothing if there is none.
std::optional<CpuQuota> cpu_quota(const SystemFiles& files);

/// How long threads of this process's groups were throttled by the CPU quota: the maximum over all levels, summed over
/// processors. 0 without a quota.
Duration throttled_time(const SystemFiles& files);

/// A memory limit, and the memory that counts against it.
struct MemoryLimit {
  Bytes limit_bytes = 0;
  Bytes used_bytes = 0;  ///< without page cache that the kernel reclaims first (inactive_file)
  std::string source;    ///< the file with the limit
  Bytes free_bytes() const noexcept { return limit_bytes > used_bytes ? limit_bytes - used_bytes : 0; }
};
/// The limits at all levels, from the process's own group upwards.
std::vector<MemoryLimit> memory_limits(const SystemFiles& files);

}  // namespace fairlead::machine
