// What a run writes must not be what it reads, nor two outputs one file: found before anything is opened.
#pragma once
#include <fairlead/config.hpp>

#include <string>
#include <vector>

namespace fairlead::app {

struct NamedFile {
  std::string option;  ///< as the user gave it: "-o", "--json", "A.npy"
  std::string path;
  bool may_replace = false;  ///< an output that may be an input
};

/// Throws ConfigError naming both if one of `outputs`, or of the files that settings of every subcommand
/// write (--json, --report, --trace, --event-log, --record-flow), is one of `inputs` or another of them: the
/// same device and inode, whatever the names, links included. Devices and pipes may be named twice.
void require_files_apart(const Config& config, const std::vector<NamedFile>& inputs,
                         std::vector<NamedFile> outputs);

}  // namespace fairlead::app
