// The machine as it is now, for this process: looked at when the program runs, never when it is built.
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
  unsigned workers = 1;         ///< how many threads it is worth having run tasks
  std::string workers_because;  ///< "all 8 cores", "1 of 8 cores: the CPU quota of 1.5 in ..."
  Memory memory;
  Pages pages;
};

struct DiscoverOptions {
  std::filesystem::path root = "/";  ///< where /proc and /sys are read
  std::string synthetic_processors;  ///< see processors()
};

/// Throws SystemError if the system does not even tell how much memory it has.
Machine discover(const DiscoverOptions& options = {});

}  // namespace fairlead::machine
