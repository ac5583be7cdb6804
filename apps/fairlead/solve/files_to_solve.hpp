// Opens the files of a system of equations in all processes of a run, as ranks/input_files.hpp.
#pragma once
#include <fairlead/config.hpp>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/rbf_matrix.hpp"
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

/// The parameters of --kernel's radial basis function.
struct RbfParameters {
  double length_scale = 1, nugget = 0;
};
/// Throws ConfigError if there is no such kernel.
RbfParameters rbf_parameters(const Config& config);
/// The matrix of --kernel and its options for points, one in each row; `coordinates`: all of the file, which
/// this process need not have. Throws ConfigError.
std::shared_ptr<const linalg::RbfMatrix> kernel_of_points(const Config& config,
                                                          const data::StoredMatrix& points,
                                                          std::vector<double> coordinates);

}  // namespace fairlead::app
