// Reads the limits of control groups, v1 and v2, at all levels up to the root.
#include "machine/cgroup.hpp"

#include "machine/mounts.hpp"

#include <algorithm>

namespace fairlead::machine {

namespace {

bool lists(std::string_view comma_separated, std::string_view word) {
  const auto words = split(comma_separated, ',');
  return std::ranges::find(words, word) != words.end();
}

// The process's group, of a line of /proc/self/cgroup: "4:memory:/a/b", for version 2 "0::/a/b".
std::optional<std::string> own_group(std::string_view groups, CgroupVersion version,
                                     std::string_view controller) {
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches =
        version == CgroupVersion::v2 ? line.starts_with("0::") : lists(controllers, controller);
    if (matches) return std::string(line.substr(second + 1));
  }
  return {};
}

// The group's path relative to the mounted directory. In a container /proc/self/cgroup has "/docker/1a2b" while that
// directory itself is mounted; with its own namespace a process may see "/../b". Both are not below the mount; the
// mounted directory is the group then.
std::string below_mount(const std::string& group, const std::string& mount_root) {
  if (group.find("/..") != group.npos) return {};
  const std::string root = mount_root == "/" ? "" : mount_root;
  if (!group.starts_with(root)) return {};
  const std::string rest = group.substr(root.size());
  return rest.starts_with('/') && rest != "/" ? rest : std::string();
}

void add_levels(std::vector<CgroupLevel>& levels, CgroupVersion version, const Mount& mount,
                const std::string& group) {
  std::string below = below_mount(group, mount.root);
  while (!below.empty()) {
    levels.push_back({version, mount.point + below});
    below.erase(below.rfind('/'));
  }
  levels.push_back({version, mount.point});
}

}  // namespace

std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller) {
  std::vector<CgroupLevel> levels;
  const std::vector<Mount> mounted = read_mounts(files);
  const std::string groups = files.text("/proc/self/cgroup").value_or("");
  for (const CgroupVersion version : {CgroupVersion::v1, CgroupVersion::v2}) {
    const auto group = own_group(groups, version, controller);
    if (!group) continue;
    for (const Mount& mount : mounted) {
      const bool matches = version == CgroupVersion::v2
                               ? mount.type == "cgroup2"
                               : mount.type == "cgroup" && lists(mount.super_options, controller);
      if (!matches) continue;
      add_levels(levels, version, mount, *group);
      break;  // further mounts show the same groups
    }
  }
  return levels;
}

std::optional<CpuQuota> cpu_quota(const SystemFiles& files) {
  std::optional<CpuQuota> tightest;
  for (const CgroupLevel& level : cgroup_levels(files, "cpu")) {
    std::optional<std::uint64_t> quota, period;
    std::string source;
    if (level.version == CgroupVersion::v1) {
      source = level.directory + "/cpu.cfs_quota_us";
      quota = files.number(source);  // -1 means no quota
      period = files.number(level.directory + "/cpu.cfs_period_us");
    } else {
      source = level.directory + "/cpu.max";
      const std::string line = files.text(source).value_or("");  // "150000 100000" or "max 100000"
      const auto words = split(std::string_view(line).substr(0, line.find('\n')), ' ');
      quota = parse_number(words[0]);
      period = words.size() > 1 ? parse_number(words[1]) : 100'000;  // cgroup-v2.rst: the period is optional
    }
    if (!quota || !period || *quota == 0 || *period == 0) continue;
    const double detect_processors = static_cast<double>(*quota) / static_cast<double>(*period);
    if (!tightest || detect_processors < tightest->processors) tightest = CpuQuota{detect_processors, source};
  }
  return tightest;
}

Duration throttled_time(const SystemFiles& files) {
  Duration longest{};
  for (const CgroupLevel& level : cgroup_levels(files, "cpu")) {
    const std::string stat = level.directory + "/cpu.stat";
    const Duration here = level.version == CgroupVersion::v1
                              ? Duration(files.field(stat, "throttled_time").value_or(0))
                              : Duration(1000 * files.field(stat, "throttled_usec").value_or(0));
    longest = std::max(longest, here);
  }
  return longest;
}

std::vector<MemoryLimit> memory_limits(const SystemFiles& files) {
  std::vector<MemoryLimit> limits;
  bool own = true;
  for (const CgroupLevel& level : cgroup_levels(files, "memory")) {
    const std::string& directory = level.directory;
    const bool v1 = level.version == CgroupVersion::v1;
    const std::string stat = directory + "/memory.stat", content = files.text(stat).value_or("");
    const auto used =
        files.number(directory + (v1 ? "/memory.usage_in_bytes" : "/memory.current")).value_or(0);
    const auto cache = field_of(content, v1 ? "total_inactive_file" : "inactive_file").value_or(0);
    const auto add = [&](std::optional<std::uint64_t> limit, std::string source) {
      // Version 1 represents "no limit" as the largest multiple of the page size below 2^63.
      if (!limit || *limit >= Bytes(1) << 62) return;
      limits.push_back({*limit, used > cache ? used - cache : 0, std::move(source)});
    };
    const auto add_file = [&](const char* name) { add(files.number(directory + name), directory + name); };
    if (!v1) {
      add_file("/memory.max");
      add_file("/memory.high");  // above it the process is throttled heavily
      continue;
    }
    // Version 1 groups may lack hierarchy; then only the process's own limit applies.
    const bool counts = own || files.number(directory + "/memory.use_hierarchy").value_or(1) != 0;
    if (counts) add_file("/memory.limit_in_bytes");
    // The file memory.stat includes limits above the mounted directory, but not the usage there.
    if (own) {
      const auto above = field_of(content, "hierarchical_memory_limit");
      if (above && *above < files.number(directory + "/memory.limit_in_bytes").value_or(*above))
        add(above, stat);
    }
    own = false;
  }
  return limits;
}

}  // namespace fairlead::machine
