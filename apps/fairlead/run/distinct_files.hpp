// Checks, before any file is opened, that no output of a run is an input or another output.
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

/// Throws ConfigError naming both if one of `outputs`, or of the files that settings write (--json, --csv,
/// --report, ...), is another of them, one of `inputs`, or of what settings read (--recorded, --cuda-kernels,
/// --blas, a machine's file, a policy's, the configuration file): the same device and inode, whatever the names,
/// links included. Devices and pipes may be named twice.
void require_distinct_files(const Config& config, std::vector<NamedFile> inputs = {},
                            std::vector<NamedFile> outputs = {});

}  // namespace fairlead::app
