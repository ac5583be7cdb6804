// Opens the files of a system of equations in all processes of a run, as ranks/input_files.hpp.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include "data/matrix/stored_matrix.hpp"
#include "fairlead/ranks/command_ranks.hpp"

namespace fairlead::app {

struct FilesToSolve {
  std::shared_ptr<const data::StoredMatrix> a, b;
  bool same =
      true;  ///< all processes have opened the same files; if false, only the first has more than headers
  /// The content of `a`, column-major, if the matrix is computed from points.
  std::vector<double> points{};
};

/// Collective. Throws as open_input_files().
FilesToSolve files_to_solve(CommandRanks& ranks, const Config& config, const std::string& a,
                            const std::string& b, bool of_points);

}  // namespace fairlead::app
