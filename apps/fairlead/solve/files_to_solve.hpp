// The files of a system that several processes solve: each opens them, and if one finds other files than the
// first, or none, the first reads for all.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include "data/npy/npy_file.hpp"
#include "fairlead/ranks/command_ranks.hpp"

namespace fairlead::app {

struct FilesToSolve {
  std::shared_ptr<const data::NpyFile> a, b;
  bool same = true;  ///< for all processes; if false, other processes than the first have only its headers
  /// All of a, column-major, if the matrix is computed from points.
  std::vector<double> points{};
};

/// All processes call it. Throws as NpyFile if the first cannot read them, on the others RankError.
FilesToSolve files_to_solve(CommandRanks& ranks, const Config& config, const std::string& a,
                            const std::string& b, bool of_points);

}  // namespace fairlead::app
