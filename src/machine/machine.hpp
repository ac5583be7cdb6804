// The machine as it is available to this process, detected at run time.
#pragma once
#include "machine/cgroup.hpp"
#include "machine/memory.hpp"
#include "machine/processors.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace fairlead::machine {

struct Machine {
  Processors processors;
  std::optional<CpuQuota> cpu_quota;
  unsigned workers = 1;  ///< the recommended number of worker threads
  /// The reason for it: "all 8 cores", "1 of 8 cores: the CPU quota of 1.5 in ...".
  std::string workers_reason;
  MachineMemory memory;
  Pages pages;
};

struct DiscoverOptions {
  std::filesystem::path root = "/";  ///< the directory that contains /proc and /sys
  std::string synthetic_processors;  ///< see processors()
};

/// Throws SystemError if the cores or the size of the memory cannot be determined.
Machine discover(const DiscoverOptions& options = {});

}  // namespace fairlead::machine
