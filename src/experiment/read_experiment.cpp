// Reads an experiment from TOML.
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/suggest.hpp"
#include "config/toml_reader.hpp"
#include "experiment/experiment.hpp"
#include "experiment/judged.hpp"
#include "schedule/policies.hpp"

namespace fairlead::experiment {

namespace {

using config::TomlReader;

struct MetricWords {
  Metric metric;
  std::string_view name, unit;
  bool more_is_better;
};
constexpr std::array metrics = {
    MetricWords{Metric::seconds, "seconds", "s", false},
    MetricWords{Metric::gflops, "gflops", "GFlop/s", true},
    MetricWords{Metric::percent_of_peak, "percent_of_peak", "% of peak", true},
    MetricWords{Metric::gigabytes_to_devices, "gigabytes_to_devices", "GB to devices", false},
    MetricWords{Metric::gigabytes_from_devices, "gigabytes_from_devices", "GB from devices", false},
    MetricWords{Metric::gigabytes_between_devices, "gigabytes_between_devices", "GB between devices", false},
    MetricWords{Metric::gigabytes_moved, "gigabytes_moved", "GB moved", false},
    MetricWords{Metric::gigabytes_from_disk, "gigabytes_from_disk", "GB from disk", false},
    MetricWords{Metric::percent_of_gemm_peak, "percent_of_gemm_peak", "% of GEMM peak", true},
    MetricWords{Metric::gigabytes_sent, "gigabytes_sent", "GB sent", false},
};
const MetricWords& words_of(Metric metric) noexcept {
  return *std::ranges::find(metrics, metric, &MetricWords::metric);
}

constexpr std::array<std::pair<std::string_view, Check>, 7> checks = {{{"best", Check::best},
                                                                       {"worst", Check::worst},
                                                                       {"below", Check::below},
                                                                       {"above", Check::above},
                                                                       {"near", Check::near},
                                                                       {"between", Check::between},
                                                                       {"changes", Check::changes}}};

constexpr std::array<std::string_view, 33> settings = {"advice",
                                                       "machine",
                                                       "workload",
                                                       "precision",
                                                       "scheduler",
                                                       "memory",
                                                       "host_memory",
                                                       "data",
                                                       "memory_model",
                                                       "n",
                                                       "tile",
                                                       "tiles",
                                                       "gpus",
                                                       "cores",
                                                       "streams",
                                                       "noise",
                                                       "depth",
                                                       "device_gigabytes_per_second",
                                                       "peers",
                                                       "slow",
                                                       "misjudged",
                                                       "priorities",
                                                       "ranks",
                                                       "grid",
                                                       "cores_in_all",
                                                       "tiles_of_one_rank",
                                                       "n_at_least",
                                                       "network_bandwidth_times",
                                                       "network_latency_times",
                                                       "panel_rates_times",
                                                       "ranks_per_node",
                                                       "receive_into",
                                                       "eager_limit"};

Metric metric_of(TomlReader& reader, std::string_view key) {
  const std::string written = reader.string(key);
  std::vector<std::string_view> names;
  for (const MetricWords& words : metrics) {
    if (words.name == written) return words.metric;
    names.push_back(words.name);
  }
  reader.fail(key, fmt::format("is \"{}\"{}; it can be {}", written, did_you_mean(written, names),
                               fmt::join(names, ", ")));
}

void check_setting(std::string_view key, std::string_view where) {
  if (std::ranges::find(settings, key) == settings.end())
    throw ConfigError(fmt::format("{}: there is no setting \"{}\"{}; there are {}", where, key,
                                  did_you_mean(key, settings), fmt::join(settings, ", ")));
}

std::map<std::string, std::string> settings_in(TomlReader& reader, std::string_view file) {
  std::map<std::string, std::string> found;
  for (const std::string& key : reader.keys()) {
    check_setting(key, file);
    found[key] = reader.string(key);
  }
  return found;
}

void read_line(TomlReader& reader, std::string_view file, Experiment& experiment) {
  Line line{.label = reader.string("label"),
            .scheduler = reader.string("scheduler"),
            .other = {},
            .note = reader.text_or("note", ""),
            .variant = reader.bool_or("variant", experiment.variant)};
  reader.table("with", [&](TomlReader& with) { line.other = settings_in(with, file); });
  for (const Line& other : experiment.lines)
    if (other.label == line.label) reader.fail("label", fmt::format("is \"{}\" a second time", line.label));
  experiment.lines.push_back(std::move(line));
}

void require_line(const Experiment& experiment, TomlReader& reader, std::string_view key,
                  const std::string& label) {
  std::vector<std::string_view> labels;
  for (const Line& line : experiment.lines) labels.push_back(line.label);
  if (std::ranges::find(labels, label) == labels.end())
    reader.fail(key, fmt::format("names \"{}\", which is no [[line]]{}", label, did_you_mean(label, labels)));
}

void require_point(const Experiment& experiment, TomlReader& reader, std::string_view key, double x) {
  const auto has = [&](const std::vector<double>& values) {
    return std::ranges::find(values, x) != values.end();
  };
  if (!has(experiment.values) && !has(experiment.quick_values))
    reader.fail(key, fmt::format("names {}, which is none of the `values`", x));
}

/// A value is a test only if its tolerance was fixed in advance and no assumption of the experiment was
/// derived from it.
PaperValue value_of(TomlReader& reader, const Experiment& experiment) {
  PaperValue value{.line = reader.string("line"),
                   .x = {},
                   .metric = metric_of(reader, "metric"),
                   .value = reader.number("value", -1e18, 1e18),
                   .within = reader.number_or("within", 0, 0, 1),
                   .input = reader.bool_or("input", false),
                   .duplicate = reader.text_or("duplicate", ""),
                   .note = reader.text_or("note", "")};
  if (reader.contains("x"))
    require_point(experiment, reader, "x", value.x.emplace(reader.number("x", -1e18, 1e18)));
  if (value.line != "bus limit") require_line(experiment, reader, "line", value.line);
  if (is_variant(experiment, value.line)) {
    for (const std::string_view key : {"within", "input", "duplicate"})
      if (reader.contains(key))
        reader.fail(
            key, fmt::format("has no effect: \"{}\" is a variant, of which nothing is judged", value.line));
  } else if (value.input) {
    if (reader.contains("within"))
      reader.fail("within", "has no effect with `input`: such a value is not judged");
    if (value.note.empty())
      reader.fail("note", "is missing: say what was chosen by the value that is an `input`");
  } else if (!reader.contains("within")) {
    reader.fail(
        "within",
        "is missing: write how far from `value` still counts as reproduced, as within = 0.2; or input = "
        "true, if something of the experiment was chosen by this value");
  }
  return value;
}

void check_bound(const Claim& claim, TomlReader& reader) {
  if (claim.check != Check::below && claim.check != Check::above && claim.check != Check::between)
    reader.fail("bound", "has no effect without check = \"below\", \"above\" or \"between\"");
  const bool bytes = unit_of(claim.metric).substr(0, 2) == "GB", peak = claim.bound == "peak";
  if (peak ? claim.metric != Metric::gflops : !bytes)
    reader.fail("bound", fmt::format("is in {}, but the metric in {}",
                                     peak ? unit_of(Metric::gflops) : "bytes", unit_of(claim.metric)));
}

/// Rejects claims that compare with nothing, and contradictory settings.
void check_sense(const Claim& claim, const Experiment& experiment, TomlReader& reader) {
  const bool changes = claim.check == Check::changes, between = claim.check == Check::between;
  const bool limits_grow = claim.limits[0] < claim.limits[1];
  if (between && ((claim.others.empty() && claim.bound.empty()) || !limits_grow))
    reader.fail("check", "between needs `others` or a `bound`, and two growing `limits`");
  if (changes && (claim.at.size() != 2 || !claim.others.empty() || !limits_grow))
    reader.fail("check", "changes needs two values in `at`, two growing `limits`, and no `others`");
  if (!between && !changes && reader.contains("limits"))
    reader.fail("limits", "have no effect without check = \"between\" or \"changes\"");
  if (std::ranges::find(claim.others, claim.line) != claim.others.end())
    reader.fail("others", fmt::format("names \"{}\", which is `line` itself", claim.line));
  if (!claim.bound.empty()) return check_bound(claim, reader);
  const auto compares = [&](const Line& line) {
    return line.label != claim.line && (!line.variant || is_variant(experiment, claim.line));
  };
  if (!changes && claim.others.empty() && std::ranges::none_of(experiment.lines, compares))
    reader.fail("others", "is missing, and there is no other [[line]] that is no variant");
}

Claim claim_of(TomlReader& reader, const Experiment& experiment) {
  Claim claim;
  claim.text = reader.string("text");
  const std::string check = reader.string("check");
  const auto found = std::ranges::find(checks, check, &std::pair<std::string_view, Check>::first);
  if (found == checks.end())
    reader.fail("check", "must be best, worst, below, above, near, between or changes");
  claim.check = found->second;
  claim.metric = metric_of(reader, "metric");
  claim.line = reader.string("line");
  require_line(experiment, reader, "line", claim.line);
  claim.others = reader.strings("others");
  for (const std::string& other : claim.others) require_line(experiment, reader, "others", other);
  claim.bound = reader.text_or("bound", "");
  constexpr std::array<std::string_view, 5> bounds{"", "bus limit", "lower bound", "floor", "peak"};
  if (std::ranges::find(bounds, claim.bound) == bounds.end())
    reader.fail("bound", "must be \"bus limit\", \"lower bound\", \"floor\" or \"peak\"");
  claim.at = reader.numbers("at");
  for (const double x : claim.at) require_point(experiment, reader, "at", x);
  claim.factor = reader.number_or("factor", 1, 0, 1e6);
  if (reader.contains("limits")) {
    const std::vector<double> limits = reader.numbers("limits");
    if (limits.size() != 2) reader.fail("limits", "must be two numbers");
    claim.limits[0] = limits[0];
    claim.limits[1] = limits[1];
  }
  check_sense(claim, experiment, reader);
  claim.reason = reader.text_or("reason", "");
  claim.input = reader.text_or("input", "");
  claim.duplicate = reader.text_or("duplicate", "");
  if (is_variant(experiment, claim))
    for (const std::string_view key : {"input", "duplicate"})
      if (reader.contains(key)) reader.fail(key, "has no effect: the claim is of a variant, and in no tally");
  return claim;
}

}  // namespace

std::string_view name_of(Metric metric) noexcept { return words_of(metric).name; }
std::string_view unit_of(Metric metric) noexcept { return words_of(metric).unit; }
bool more_is_better(Metric metric) noexcept { return words_of(metric).more_is_better; }

bool is_variant(const Experiment& experiment, std::string_view label) {
  const auto line = std::ranges::find(experiment.lines, label, &Line::label);
  return line == experiment.lines.end() ? experiment.variant : line->variant;
}
bool is_variant(const Experiment& experiment, const Claim& claim) {
  return is_variant(experiment, claim.line) ||
         std::ranges::any_of(claim.others, [&](const auto& other) { return is_variant(experiment, other); });
}

Experiment read_experiment(std::string_view name, std::string_view text, std::string file) {
  if (file.empty()) file = fmt::format("experiments/{}.toml", name);
  const config::TomlNode table = config::parse_toml(text, file);
  TomlReader reader(table, file, "an experiment");
  Experiment experiment;
  experiment.name = name;
  experiment.also = reader.strings("also");
  experiment.title = reader.string("title");
  experiment.paper = reader.string("paper");
  experiment.notes = reader.text_or("notes", "");
  experiment.over = reader.text_or("over", "");
  if (!experiment.over.empty()) {  // everything else comes from the other experiments
    reader.each("line", [&](TomlReader& line) { read_line(line, file, experiment); });
    if (experiment.lines.size() < 2)
      reader.fail("line", "must be there at least twice, as [[line]]: others are compared with the first");
    experiment.variant = true;
    reader.reject_unknown_keys();
    return experiment;
  }
  reader.table("settings", [&](TomlReader& inner) { experiment.settings = settings_in(inner, file); });
  experiment.sweep = reader.string("sweep");
  check_setting(experiment.sweep, file);
  experiment.values = reader.numbers("values");
  if (experiment.values.empty()) reader.fail("values", "must name at least one");
  experiment.quick_values = reader.numbers("quick_values");
  if (experiment.quick_values.empty()) experiment.quick_values = {experiment.values.front()};
  experiment.around = reader.numbers("around");
  if (experiment.around.empty()) experiment.around = {0};
  experiment.variant = reader.bool_or("variant", false);
  experiment.every_policy = reader.bool_or("every_policy", false);
  experiment.judged = reader.text_or("judged", "");
  const auto add_line = [&](std::string_view policy) {
    experiment.lines.push_back({.label = std::string(policy),
                                .scheduler = std::string(policy),
                                .other = {},
                                .note = {},
                                .variant = experiment.variant});
  };
  if (experiment.every_policy && !experiment.judged.empty())
    reader.fail("judged", "is compared with the published policies only: not with every_policy");
  if (experiment.every_policy)
    for (const PolicyEntry& entry : schedule::policies()) add_line(entry.name);
  if (!experiment.judged.empty()) {
    for (const std::string_view policy : published_policies()) add_line(policy);
    add_line(experiment.judged);
  }
  experiment.seeds = reader.count_or("seeds", 1, 1, 1000);
  reader.each("line", [&](TomlReader& line) { read_line(line, file, experiment); });
  if (experiment.lines.empty()) reader.fail("line", "must be there at least once, as [[line]]");
  for (const std::string& metric : reader.strings("metrics")) {
    const auto found = std::ranges::find(metrics, metric, &MetricWords::name);
    if (found == metrics.end()) reader.fail("metrics", fmt::format("has no \"{}\"", metric));
    experiment.metrics.push_back(found->metric);
  }
  if (experiment.metrics.empty()) reader.fail("metrics", "must name at least one");
  experiment.page = reader.bool_or("page", false);
  reader.each("value",
              [&](TomlReader& value) { experiment.paper_values.push_back(value_of(value, experiment)); });
  reader.each("claim", [&](TomlReader& claim) { experiment.claims.push_back(claim_of(claim, experiment)); });
  reader.reject_unknown_keys();
  return experiment;
}

std::vector<Experiment> find_experiments(std::string_view name) {
  if (name.ends_with(".toml")) {
    const std::filesystem::path path(name);
    const auto text = read_file(path);
    if (!text)
      throw ConfigError(
          fmt::format("cannot read the experiment {}: {}", name, std::generic_category().message(errno)));
    return {read_experiment(path.stem().string(), *text, path.string())};
  }
  std::vector<Experiment> all, found;
  std::vector<std::string_view> names;
  // An experiment over others runs all of them many times, so only its exact name selects it.
  const auto among_many = [name](const Experiment& one, char separator) {
    return one.over.empty() && one.name.size() > name.size() && one.name.starts_with(name) &&
           one.name[name.size()] == separator;
  };
  for (const EmbeddedFile& file : experiment_files()) all.push_back(read_experiment(file.name, file.text));
  for (const Experiment& one : all) {
    names.push_back(one.name);
    names.insert(names.end(), one.also.begin(), one.also.end());
    if ((name == "all" && one.over.empty()) || among_many(one, '/') || one.name == name ||
        std::ranges::find(one.also, name) != one.also.end())
      found.push_back(one);
  }
  // A figure with several panels: each panel is an experiment.
  if (found.empty())
    std::ranges::copy_if(all, std::back_inserter(found),
                         [&](const Experiment& one) { return among_many(one, '-'); });
  if (found.empty())
    throw ConfigError(fmt::format("there is no experiment \"{}\"{}; `fairlead experiment list` lists them",
                                  name, did_you_mean(name, names)));
  return found;
}

}  // namespace fairlead::experiment
