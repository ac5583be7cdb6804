// See factored_matrix_run.hpp.
#include "fairlead/factor/factored_matrix_run.hpp"

#include "data/matrix/formats.hpp"
#include "fairlead/devices/devices_to_use.hpp"
#include "fairlead/solve/stored_triangle.hpp"
#include "solver/choose_method.hpp"

namespace fairlead::app {

MatrixToFactor::MatrixToFactor(const Config& config, const std::string& path)
    : stored(stored_triangle(config)),
      solving{.condition = !config.flag("no-condition"), .keep_factors = true} {
  const std::string& name = config.text("method");
  const solver::DenseOperation* const given = name == "auto" ? nullptr : &solver::find_operation(name);
  if (given != nullptr && !given->solve)
    throw ConfigError(fmt::format("--method {}: it is not a factorization", name));
  if (given != nullptr && stored != linalg::Stored::both && !given->solve->symmetric)
    throw ConfigError(
        fmt::format("--lower, --upper and --symmetrize require a symmetric matrix: --method {} or {}, not {}",
                    solver::cholesky_operation.key, solver::ldlt_operation.key, name));
  a = data::open_matrix_file(path);
  solver::choose_method(solving, {.a = a, .b = nullptr, .stored = stored}, given, solver::TasksRun::in_flow,
                        solver::Wording::command);
  require_devices_for(config, a->element());
}

}  // namespace fairlead::app
