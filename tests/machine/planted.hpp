// Simulated machines: directory trees with the relevant files of /proc and /sys.
#pragma once
#include <fairlead/ids.hpp>

#include "machine/system_files.hpp"
#include "temporary_directory.hpp"

#include <filesystem>
#include <string>

namespace fairlead::machine {

class Planted {
 public:
  Planted& file(const std::string& path, const std::string& text) {
    directory_.write(path.substr(1), text + '\n');
    return *this;
  }
  /// 64 GiB, of which 48 are available.
  Planted& host() {
    return file("/proc/meminfo",
                "MemTotal:       67108864 kB\nMemFree:        10485760 kB\nMemAvailable:   50331648 kB\n"
                "Buffers:         1048576 kB\nCached:         20971520 kB");
  }
  /// Everything in version 2; the process is in `group`, and `mount_root` of the hierarchy is mounted.
  Planted& v2(const std::string& group, const std::string& mount_root = "/") {
    file("/proc/self/cgroup", "0::" + group);
    return file("/proc/self/mountinfo",
                "24 1 0:22 / /proc rw shared:5 - proc proc rw\n31 24 0:26 " + mount_root +
                    " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate");
  }
  /// Version 1 with the controllers where distributions had them.
  Planted& v1(const std::string& group, const std::string& mount_root = "/") {
    file("/proc/self/cgroup", "5:memory:" + group + "\n3:cpu,cpuacct:" + group + "\n1:name=systemd:" + group);
    return file("/proc/self/mountinfo", v1_mounts(mount_root));
  }
  /// Both: controllers in version 1, version 2 for systemd alone, as on Debian 10.
  Planted& mixed(const std::string& v1_group, const std::string& v2_group) {
    file("/proc/self/cgroup", "5:memory:" + v1_group + "\n3:cpu,cpuacct:" + v1_group + "\n0::" + v2_group);
    return file("/proc/self/mountinfo",
                v1_mounts("/") + "\n40 30 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  }
  /// A group of version 1: limit, usage and reclaimable page cache.
  Planted& v1_memory(const std::string& directory, const std::string& limit, const std::string& usage,
                     const std::string& inactive_file) {
    file(directory + "/memory.limit_in_bytes", limit);
    file(directory + "/memory.usage_in_bytes", usage);
    // The group's own cache and, below, that of the whole subtree: the second counts.
    return file(directory + "/memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file " + inactive_file);
  }
  Planted& v2_memory(const std::string& directory, const std::string& limit, const std::string& usage,
                     const std::string& inactive_file) {
    file(directory + "/memory.max", limit);
    file(directory + "/memory.current", usage);
    return file(directory + "/memory.stat", "anon 1\nfile 2\ninactive_file " + inactive_file);
  }

  SystemFiles files() const { return SystemFiles(root()); }
  const std::filesystem::path& root() const { return directory_.path(); }

 private:
  static std::string v1_mounts(const std::string& mount_root) {
    return "34 30 0:29 " + mount_root +
           " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n35 30 0:30 " + mount_root +
           " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
  }
  const tests::TemporaryDirectory directory_;
};

constexpr Bytes MiB = Bytes(1) << 20, GiB = Bytes(1) << 30;

}  // namespace fairlead::machine
