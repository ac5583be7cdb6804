// What is mounted where, from /proc/self/mountinfo (proc(5)).
#pragma once
#include "machine/system_files.hpp"

#include <string>
#include <vector>

namespace fairlead::machine {

struct Mount {
  std::string root;   ///< the directory of the file system that is mounted: "/" unless bind-mounted
  std::string point;  ///< where
  std::string type;   ///< "ext4", "cgroup2"
  std::string source;
  std::string super_options;  ///< of a cgroup v1 mount: its controllers, "rw,cpu,cpuacct"
};

/// In the order of mounting: later ones hide earlier ones.
std::vector<Mount> mounts(const SystemFiles& files);

}  // namespace fairlead::machine
