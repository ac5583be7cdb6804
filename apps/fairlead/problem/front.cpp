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

Front front_in(const Config& config, std::string_view benchmark) {
  const Front front = front_in(config);
  if (front == Front::jdf) require_in_jdf(benchmark);
  return front;
}

void require_in_jdf(std::string_view benchmark) {
  if (!is_in_jdf(benchmark))
    throw ConfigError(fmt::format("--front jdf: there is no JDF file for {}; use --front ptg", benchmark));
}

}  // namespace fairlead::app
