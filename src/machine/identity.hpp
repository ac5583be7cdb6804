// What makes this machine another one than those that share the user's files with it.
#pragma once
#include <string>

#include "machine/machine.hpp"

namespace fairlead::machine {

/// Durations carry over between runs while all of these are the same. The host's name, since clusters share
/// home directories; the processor and its cores, since a name may pass to another machine, or a virtual one
/// be moved. Not the cores that this process may use, nor its memory: they change from job to job.
struct Identity {
  std::string host, processor;
  unsigned cores = 0;

  /// "node7: AMD EPYC 9654 96-Core Processor, 192 cores"
  std::string text() const;
};

/// `files`: where /proc is read. What the system does not tell stays empty.
Identity identity_of(const Machine& machine, const std::filesystem::path& root = "/");

}  // namespace fairlead::machine
