// See front.hpp.
#include "fairlead/front.hpp"

#include <fairlead/error.hpp>

namespace fairlead::app {

Front front_in(const Config& config) {
  if (!config.has("front") || config.text("front") == "flow") return Front::flow;
  if (config.has("record-flow"))
    throw ConfigError("--record-flow writes down what flows submit: it does not go with --front ptg");
  return Front::ptg;
}

}  // namespace fairlead::app
