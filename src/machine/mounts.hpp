// The mounted file systems, from /proc/self/mountinfo (proc(5)).
#pragma once
#include "machine/system_files.hpp"

#include <string>
#include <vector>

namespace fairlead::machine {

struct Mount {
  std::string root;   ///< the mounted directory of the file system: "/" unless bind-mounted
  std::string point;  ///< the mount point
  std::string type;   ///< "ext4", "cgroup2"
  std::string source;
  std::string super_options;  ///< for a cgroup v1 mount: its controllers, "rw,cpu,cpuacct"
};

/// In mount order: later mounts hide earlier ones.
std::vector<Mount> read_mounts(const SystemFiles& files);

}  // namespace fairlead::machine
