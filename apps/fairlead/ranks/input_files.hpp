// Opens matrix files in all processes of a run. If a process does not find the same files as the first process,
// only the first process reads the data.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include "data/matrix/stored_matrix.hpp"
#include "fairlead/ranks/command_ranks.hpp"

namespace fairlead::app {

struct InputFiles {
  /// In the order of the paths. If `same` is false, all processes except the first have only the headers.
  std::vector<std::shared_ptr<const data::StoredMatrix>> files;
  bool same = true;  ///< all processes have opened the same files
};

/// Collective. If the first process cannot read the files, it throws as data::open_matrix_file(), and the others throw
/// RankError.
InputFiles open_input_files(CommandRanks& ranks, const Config& config, const std::vector<std::string>& paths);

}  // namespace fairlead::app
