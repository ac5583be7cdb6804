// See files_to_solve.hpp.
#include "fairlead/solve/files_to_solve.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <span>

#include "algorithms/linalg/collectives.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "fairlead/ranks/input_files.hpp"
#include "solver/read_vectors.hpp"

namespace fairlead::app {

using solver::alike;
using solver::read_vectors;

namespace {

constexpr std::int32_t points_at_once = 1024;

}  // namespace

FilesToSolve files_to_solve(CommandRanks& ranks, const Config& config, const std::string& a,
                            const std::string& b, bool of_points) {
  const InputFiles seen = open_input_files(ranks, config, {a, b});
  FilesToSolve files{.a = seen.files[0], .b = seen.files[1], .same = seen.same};
  const auto read_points = [&] {
    std::vector<std::byte> staging(linalg::source_staging_bytes);
    return read_vectors<double>(*files.a, staging);
  };
  std::vector<double>& points = files.points;
  std::exception_ptr wrong_points;
  if (!of_points) return files;
  const bool header_only = !ranks.first() && !files.same;
  if (!header_only) try {
      points = read_points();
    } catch (const Error&) {
      wrong_points = std::current_exception();
    }
  if (!files.same) {
    const double sound[] = {wrong_points == nullptr ? 1.0 : 0.0};
    points.resize(files.a->rows() * files.a->columns());
    const auto found = ranks.gather_from_processes(config, sound, [&](Runtime& runtime) {
      linalg::allgather_bands(runtime, points.data(), static_cast<std::int64_t>(files.a->rows()),
                              static_cast<std::int64_t>(files.a->columns()), points_at_once, 1);
    });
    if (header_only && found.front() == 0) throw RankError("rank 0 cannot use the points");
  }
  if (wrong_points != nullptr) alike(ranks.first(), [&] { std::rethrow_exception(wrong_points); });
  return files;
}

RbfParameters rbf_parameters(const Config& config) {
  RbfParameters parameters;
  if (config.has("length-scale")) parameters.length_scale = config.real("length-scale");
  if (config.has("nugget")) parameters.nugget = config.real("nugget");
  if (!(parameters.length_scale > 0))
    throw ConfigError(fmt::format("--length-scale {}: must be positive", parameters.length_scale));
  if (!(parameters.nugget >= 0))
    throw ConfigError(fmt::format("--nugget {}: must not be negative", parameters.nugget));
  return parameters;
}

std::shared_ptr<const linalg::RbfMatrix> kernel_of_points(const Config& config,
                                                          const data::StoredMatrix& points,
                                                          std::vector<double> coordinates) {
  const auto [length_scale, nugget] = rbf_parameters(config);
  return std::make_shared<const linalg::RbfMatrix>(
      linalg::RbfMatrix::Points{static_cast<std::int64_t>(points.rows()),
                                static_cast<std::int64_t>(points.columns()), std::move(coordinates)},
      length_scale, nugget);
}

}  // namespace fairlead::app
