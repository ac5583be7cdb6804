// See run_options.hpp.
#include "fairlead/run/run_options.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "fairlead/run/report_output.hpp"
#include "front/runtime/scheduler_setting.hpp"
#include "machine/machine.hpp"
#include "solver/jdf/jdf_algorithms.hpp"

namespace fairlead::app {

Front front_in(const Config& config) {
  if (!config.has("front") || config.text("front") == "flow") return Front::flow;
  if (config.has("record-flow"))
    throw ConfigError("--record-flow records flows and does not work with --front " + config.text("front"));
  return config.text("front") == "jdf" ? Front::jdf : Front::ptg;
}

Front front_in(const Config& config, const solver::DenseOperation& operation) {
  const Front front = front_in(config);
  if (front == Front::jdf && operation.jdf.empty()) throw solver::not_in_jdf(operation.key);
  return front;
}

Front front_at(const Config& config, const GridRank& place, const solver::DenseOperation& operation) {
  const Front front = place.alone() || config.has("front") ? front_in(config) : Front::ptg;
  if (solver::has_graph(operation) || front == Front::flow) return front;
  if (config.has("front"))
    throw ConfigError(fmt::format("--front {}: the {} is a flow only", config.text("front"), operation.name));
  return Front::flow;
}

linalg::Stored stored_triangle(const Config& config) {
  const bool lower = config.flag("lower"), upper = config.flag("upper"), mean = config.flag("symmetrize");
  if (lower + upper + mean > 1)
    throw ConfigError("--lower, --upper and --symmetrize exclude each other: give one");
  return lower   ? linalg::Stored::lower
         : upper ? linalg::Stored::upper
         : mean  ? linalg::Stored::mean
                 : linalg::Stored::both;
}

const solver::DenseOperation* method_in(const Config& config) {
  const std::string& name = config.text("method");
  if (name == "auto") return nullptr;
  const solver::DenseOperation& method = solver::find_operation(name);
  if (!method.solve) throw ConfigError(fmt::format("--method {}: it is not a factorization", method.key));
  return &method;
}

void apply_quiet(Config& config) {
  if (config.flag("quiet")) config.set("progress", "none");
}

void set_workers_of_ranks(Config& config, const CommandRanks& ranks) {
  if (!ranks.alone() && !config.has("workers"))
    config.set("workers", static_cast<std::uint64_t>(ranks.part_of(machine::discover().workers)));
}

Config settings_of_run(Config config, const CommandRanks& ranks) {
  if (!ranks.alone() && config.has("checkpoint"))
    throw ConfigError("--checkpoint: runs over several ranks have no checkpoints");
  if (config.has("scheduler")) front::make_scheduler(config, config.text("scheduler"));
  apply_quiet(config);
  if (!config.has("memory"))
    config.set("memory", machine::discover().memory.usable_bytes() / ranks.on_machine());
  if (ranks.first()) require_place_for_report(config);
  set_workers_of_ranks(config, ranks);
  return config;
}

void warn_of_former_name(const CommandRanks& ranks, std::string_view operation) {
  const std::string note = solver::renaming_note(operation);
  if (ranks.first() && !note.empty()) fmt::print(stderr, "fairlead: warning: {}\n", note);
}

}  // namespace fairlead::app
