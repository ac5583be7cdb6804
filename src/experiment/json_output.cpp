// Writes the values and claims of a paper with their verdicts as JSON.
#include "base/json.hpp"
#include "experiment/output_formats.hpp"
#include "experiment/output_numbers.hpp"

namespace fairlead::experiment {

std::string json(const Experiment& experiment, const Table& table) {
  Json values = Json::array();
  for (const ValueVerdict& one : judge_values(experiment, table)) {
    Json value = Json::object({{"line", one.value->line},
                               {"unit", std::string(unit_of(one.value->metric))},
                               {"paper", one.value->value},
                               {"here", one.here ? Json(*one.here) : Json()},
                               {"verdict", name_of(one.verdict)}});
    if (one.range) {
      value.add("least", one.range->least);
      value.add("most", one.range->most);
    }
    values.add(std::move(value));
  }
  Json claims = Json::array();
  for (const ClaimVerdict& one : judge_claims(experiment, table))
    claims.add(
        Json::object({{"claim", one.claim->text}, {"here", one.found}, {"verdict", name_of(one.verdict)}}));
  return Json::object({{"experiment", experiment.name},
                       {"title", experiment.title},
                       {"paper", experiment.paper},
                       {"values", std::move(values)},
                       {"claims", std::move(claims)}})
      .text();
}

}  // namespace fairlead::experiment
