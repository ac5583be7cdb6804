// Identifies this machine among those that share the user's files.
#pragma once
#include <string>

#include "machine/machine.hpp"

namespace fairlead::machine {

/// Measured durations are valid for later runs with the same identity. It has the host's name, since clusters share
/// home directories, and processor and cores, since a name can move to another machine. It excludes the cores and the
/// memory available to this process, which change from job to job.
struct Identity {
  std::string host, processor;
  unsigned cores = 0;

  /// "node7: AMD EPYC 9654 96-Core Processor, 192 cores"
  std::string text() const;
};

/// `root`: the directory that contains /proc. Fields that the system does not report are empty.
Identity identity_of(const Machine& machine, const std::filesystem::path& root = "/");

}  // namespace fairlead::machine
