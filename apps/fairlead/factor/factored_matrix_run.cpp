// See factored_matrix_run.hpp.
#include "fairlead/factor/factored_matrix_run.hpp"

namespace fairlead::app {

namespace {

linalg::Stored triangle_to_factor(const Config& config) {
  const bool lower = config.flag("lower"), upper = config.flag("upper"), mean = config.flag("symmetrize");
  if (lower + upper + mean > 1)
    throw ConfigError("--lower, --upper and --symmetrize exclude each other: give one");
  return lower   ? linalg::Stored::lower
         : upper ? linalg::Stored::upper
         : mean  ? linalg::Stored::mean
                 : linalg::Stored::both;
}

}  // namespace

MatrixToFactor::MatrixToFactor(const Config& config, const std::string& path)
    : choice{}, stored(triangle_to_factor(config)), condition(!config.flag("no-condition")) {
  const std::string& name = config.text("method");
  if (name != "automatic") {
    choice.operation = &solver::find_operation(name);
    if (!choice.operation->solve)
      throw ConfigError(fmt::format("--method {}: it is not a factorization", name));
    if (stored != linalg::Stored::both && !choice.operation->solve->symmetric)
      throw ConfigError(
          fmt::format("--lower, --upper and --symmetrize require a symmetric matrix: --method {}, not {}",
                      solver::cholesky_operation.key, name));
  }
  a = linalg::stored_matrix_of(linalg::open_matrix(path));
  if (name != "automatic") return;
  choice = solver::choose_method_by_shape(static_cast<std::int64_t>(a->rows()),
                                          static_cast<std::int64_t>(a->columns()));
  if (stored != linalg::Stored::both)
    choice = {.operation = &solver::cholesky_operation,
              .reason = "one triangle of a symmetric matrix is used"};
}

}  // namespace fairlead::app
