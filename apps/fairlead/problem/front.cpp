// See front.hpp.
#include "fairlead/problem/front.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "fairlead/jdf/jdf_algorithms.hpp"

namespace fairlead::app {

Front front_in(const Config& config) {
  if (!config.has("front") || config.text("front") == "flow") return Front::flow;
  if (config.has("record-flow"))
    throw ConfigError("--record-flow records flows and does not work with --front " + config.text("front"));
  return config.text("front") == "jdf" ? Front::jdf : Front::ptg;
}

namespace {
[[noreturn]] void throw_not_in_jdf(std::string_view what) {
  throw ConfigError(fmt::format("--front jdf: there is no JDF file for {}; use --front ptg", what));
}
}  // namespace

Front front_in(const Config& config, const solver::DenseOperation& operation) {
  const Front front = front_in(config);
  if (front == Front::jdf && operation.jdf.empty()) throw_not_in_jdf(operation.key);
  return front;
}

void require_in_jdf(std::string_view workload) {
  if (!is_in_jdf(workload)) throw_not_in_jdf(workload);
}

}  // namespace fairlead::app
