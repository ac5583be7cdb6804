// The .npy files that several processes read: each opens them, and if one finds other files than the first,
// or none, the first reads for all.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include "data/npy/npy_file.hpp"
#include "fairlead/ranks/command_ranks.hpp"

namespace fairlead::app {

struct FilesOfAll {
  /// In the order of their paths; if `same` is false, other processes than the first have only the first
  /// one's headers.
  std::vector<std::shared_ptr<const data::NpyFile>> files;
  bool same = true;  ///< for all processes
};

/// All processes call it. Throws as NpyFile if the first cannot read them, on the others RankError.
FilesOfAll files_of_all(CommandRanks& ranks, const Config& config, const std::vector<std::string>& paths);

}  // namespace fairlead::app
