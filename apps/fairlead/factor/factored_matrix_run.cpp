// See factored_matrix_run.hpp.
#include "fairlead/factor/factored_matrix_run.hpp"

#include "data/matrix/formats.hpp"
#include "fairlead/run/run_options.hpp"
#include "solver/choose_method.hpp"
#include "solver/devices/problem_devices.hpp"
#include "solver/method_options.hpp"

namespace fairlead::app {

MatrixToFactor::MatrixToFactor(const Config& config, const std::string& path)
    : stored(stored_triangle(config)),
      solving{.condition = !config.flag("no-condition"), .keep_factors = true} {
  const solver::DenseOperation* const given = method_in(config);
  std::vector<solver::MethodOption> named;
  if (const auto triangle = solver::option_of(stored)) named.push_back(*triangle);
  if (const auto problem = solver::problem_of({.method = given, .options = named}, solver::Wording::command))
    throw ConfigError(*problem);
  a = data::open_matrix_file(path);
  solver::choose_method(solving, {.a = a, .b = nullptr, .stored = stored}, given, solver::TasksRun::in_flow,
                        solver::Wording::command);
  solver::require_devices_for(config, a->element());
}

}  // namespace fairlead::app
