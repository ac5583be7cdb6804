// Computes the means of an experiment, and the verdicts on values and claims.
#include "experiment/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fairlead::experiment {

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::differs:
      return "differs";
    case Verdict::input:
      return "input";
    case Verdict::duplicate:
      return "duplicate";
    case Verdict::tie:
      return "tie";
    case Verdict::variant:
      return "variant";
    case Verdict::missing:
      return "missing";
  }
  return "";
}

namespace {

Figures mean_of(const std::vector<Figures>& all) {
  Figures mean;
  mean.finished = true;
  const double part = 1.0 / static_cast<double>(all.size());
  for (const Figures& one : all)
    for (const auto& [name, figure] : all_figures) mean.*figure += one.*figure * part;
  return mean;
}

double bound_of(const Figures& figures, std::string_view bound) {
  return bound == "bus limit"     ? figures.bus_limit_gigabytes
         : bound == "lower bound" ? figures.lower_bound_gigabytes
         : bound == "floor"       ? figures.floor_gigabytes
                                  : figures.best_gflops;
}

/// One point of a claim: whether it holds, and the figures.
struct Point {
  bool holds = false;
  bool tie = false;  ///< holds by less than the resolution of the simulation
  std::string found;
};

/// Simulated times and bytes that differ by less are not distinguished: single runs of one policy differ by more
/// when the size of the matrix changes by one tile.
constexpr double resolution = 0.01;

/// True if a comparison of the means holds, but fails for some pair of seeds, or, without a factor, the
/// difference is below the resolution.
bool is_tie(const Claim& claim, std::size_t at, const Series& own, const Series& other) {
  const bool compares = claim.check == Check::best || claim.check == Check::worst ||
                        claim.check == Check::below || claim.check == Check::above;
  if (!compares) return false;
  const double value = own.points[at]->of(claim.metric), its = other.points[at]->of(claim.metric);
  if (claim.factor == 1 && std::abs(value - its) <= resolution * std::max(std::abs(value), std::abs(its)))
    return true;
  const auto range = own.range(at, claim.metric), others = other.range(at, claim.metric);
  if (!range || !others) return false;
  const bool better = claim.check == Check::best || claim.check == Check::worst
                          ? (claim.check == Check::best) == more_is_better(claim.metric)
                          : claim.check == Check::above;
  // `factor` times the other's for what is larger, divided by it for what is smaller; "below" and "above" multiply.
  const bool divides = !better && claim.check != Check::below;
  const double factor = divides ? 1 / claim.factor : claim.factor;
  return better ? range->least < others->most * factor : range->most > others->least * factor;
}

/// True if the value satisfies the claim relative to the bound.
bool satisfies(const Claim& claim, double value, double bound) {
  switch (claim.check) {
    case Check::below:
      return value < bound * claim.factor;
    case Check::above:
      return value > bound * claim.factor;
    default:
      return value >= bound * claim.limits[0] && value <= bound * claim.limits[1];
  }
}

Point judge_by_bound(const Claim& claim, std::size_t at, const Figures& own,
                     const std::vector<const Series*>& others) {
  const double bound = bound_of(own, claim.bound);
  Point point{.holds = satisfies(claim, own.of(claim.metric), bound),
              .found = fmt::format("{:.4g}", own.of(claim.metric))};
  for (const Series* other : others) {
    const double its = other->points[at]->of(claim.metric);
    const bool keeps = satisfies(claim, its, bound);
    point.holds = point.holds && keeps;
    if (!keeps || others.size() <= 3) point.found += fmt::format(", {} {:.4g}", other->label, its);
  }
  const std::string times = claim.check == Check::between
                                ? fmt::format("{:g} to {:g} times ", claim.limits[0], claim.limits[1])
                            : claim.factor == 1 ? std::string()
                                                : fmt::format("{:g} times ", claim.factor);
  point.found += fmt::format(" against {}{:.4g} ({})", times, bound, claim.bound);
  return point;
}

Point judge(const Claim& claim, std::size_t at, const Series& series,
            const std::vector<const Series*>& others) {
  const Figures& own = *series.points[at];
  if (!claim.bound.empty()) return judge_by_bound(claim, at, own, others);
  const double value = own.of(claim.metric);
  const bool more = more_is_better(claim.metric);
  Point point{.holds = true, .found = fmt::format("{:.4g}", value)};
  for (const Series* other : others) {
    const double its = other->points[at]->of(claim.metric);
    bool holds = true;
    switch (claim.check) {
      case Check::best:
        holds = more ? value >= its * claim.factor : value * claim.factor <= its;
        break;
      case Check::worst:
        holds = more ? value * claim.factor <= its : value >= its * claim.factor;
        break;
      case Check::below:
        holds = value < its * claim.factor;
        break;
      case Check::above:
        holds = value > its * claim.factor;
        break;
      case Check::near:
        holds = std::abs(value - its) <= claim.factor * its;
        break;
      case Check::between:
        holds = value >= its * claim.limits[0] && value <= its * claim.limits[1];
        break;
      case Check::changes:  // judged separately: it compares two points
        break;
    }
    point.holds = point.holds && holds;
    const bool tie = is_tie(claim, at, series, *other);
    point.tie = point.tie || tie;
    if (!holds || tie || others.size() <= 3) point.found += fmt::format(", {} {:.4g}", other->label, its);
  }
  return point;
}

/// Gives no verdict and no text unless both points exist.
void judge_change(const Claim& claim, const Table& table, ClaimVerdict& verdict) {
  const Series& own = *table.find(claim.line);
  std::vector<double> values;
  for (const double x : claim.at) {
    const auto place = static_cast<std::size_t>(std::ranges::find(table.x, x) - table.x.begin());
    if (place == table.x.size() || !own.points[place]) return;
    values.push_back(own.points[place]->of(claim.metric));
  }
  const double change = values[1] / values[0];
  verdict.holds = change >= claim.limits[0] && change <= claim.limits[1];
  verdict.found = fmt::format("{:.2f} times: {:.4g} at {}, {:.4g} at {}", change, values[1], claim.at[1],
                              values[0], claim.at[0]);
}

/// The lines that `line` is compared with: those that the claim names, or all others; variants only if `line`
/// is one.
std::vector<const Series*> compared_with(const Experiment& experiment, const Claim& claim,
                                         const Table& table) {
  const bool all = claim.others.empty() && claim.bound.empty();
  const bool variants = is_variant(experiment, claim.line);
  std::vector<const Series*> others;
  for (const Series& series : table.series)
    if (series.label != claim.line &&
        (all ? variants || !is_variant(experiment, series.label)
             : std::ranges::find(claim.others, series.label) != claim.others.end()))
      others.push_back(&series);
  return others;
}

/// Why the claim cannot be judged at this point; empty if it can.
std::string why_not_judged(const Claim& claim, const Table& table, std::size_t at, const Series& own,
                           const std::vector<const Series*>& others) {
  const auto lacks = [&](const Series* series) { return !series->points[at]; };
  const auto other = std::ranges::find_if(others, lacks);
  if (lacks(&own) || other != others.end())
    return fmt::format("x = {}: {} did not finish", table.x[at], lacks(&own) ? own.label : (*other)->label);
  // Without a bound, any value would count as above it.
  if (!claim.bound.empty() && !(bound_of(*own.points[at], claim.bound) > 0))
    return fmt::format("x = {}: the {} is not known", table.x[at], claim.bound);
  return "";
}

void judge_points(const Experiment& experiment, const Claim& claim, const Table& table,
                  ClaimVerdict& verdict) {
  const Series& own = *table.find(claim.line);
  const std::vector<const Series*> others = compared_with(experiment, claim, table);
  std::size_t judged = 0, held = 0;
  std::string unfinished;  // of the first point that cannot be judged
  std::string tied;        // of the first point that is a tie
  for (std::size_t at = 0; at < table.x.size(); ++at) {
    if (!claim.at.empty() && std::ranges::find(claim.at, table.x[at]) == claim.at.end()) continue;
    if (std::string why = why_not_judged(claim, table, at, own, others); !why.empty()) {
      if (unfinished.empty()) unfinished = std::move(why);
      continue;
    }
    const Point point = judge(claim, at, own, others);
    // Shows the first point at which the claim fails, or the last point.
    if (held == judged) verdict.found = fmt::format("x = {}: {}", table.x[at], point.found);
    ++judged;
    held += point.holds;
    if (point.holds && point.tie && tied.empty()) tied = fmt::format("x = {}: {}", table.x[at], point.found);
  }
  if (held == judged && (judged == 0 || !unfinished.empty())) {
    verdict.found = unfinished;
    return;
  }
  verdict.holds = held == judged;
  verdict.tie = held == judged && !tied.empty();
  if (verdict.tie) verdict.found = tied;
  if (held != judged)
    verdict.found = fmt::format("holds at {} of {} points; {}", held, judged, verdict.found);
}

/// Whether two claims that hold rest on the same figures: they make the same comparison of lines that came out alike.
bool is_same_evidence(const Claim& one, const Claim& other, const Table& table) {
  if (one.check != other.check || one.metric != other.metric || one.factor != other.factor ||
      !std::ranges::equal(one.limits, other.limits) || one.bound != other.bound || one.at != other.at)
    return false;
  // The sets of compared lines may include each other's line; apart from that they must be equal.
  const auto without_both = [&](std::vector<std::string> others) {
    std::erase_if(others, [&](const std::string& label) { return label == one.line || label == other.line; });
    return others;
  };
  if (without_both(one.others) != without_both(other.others)) return false;
  const Series &mine = *table.find(one.line), &its = *table.find(other.line);
  for (std::size_t at = 0; at < table.x.size(); ++at) {
    if (!one.at.empty() && std::ranges::find(one.at, table.x[at]) == one.at.end()) continue;
    if (!mine.points[at] || !its.points[at] ||
        mine.points[at]->of(one.metric) != its.points[at]->of(one.metric))
      return false;
  }
  return true;
}

Verdict verdict_of(std::optional<bool> holds) {
  return !holds ? Verdict::missing : *holds ? Verdict::reproduced : Verdict::differs;
}

/// If the last claim holds but is not independent evidence, changes its verdict to input, duplicate or tie.
void judge_evidence(std::vector<ClaimVerdict>& verdicts, const Table& table) {
  ClaimVerdict& last = verdicts.back();
  if (last.verdict != Verdict::reproduced) return;
  const Claim& claim = *last.claim;
  if (!claim.input.empty()) {
    last.verdict = Verdict::input;
    last.found += fmt::format("; follows from {}", claim.input);
  } else if (!claim.duplicate.empty()) {
    last.verdict = Verdict::duplicate;
    last.found += fmt::format("; the same run as {}", claim.duplicate);
  } else if (last.tie) {
    last.verdict = Verdict::tie;
  } else {
    const auto same =
        std::ranges::find_if(verdicts.begin(), verdicts.end() - 1, [&](const ClaimVerdict& one) {
          return one.verdict == Verdict::reproduced && is_same_evidence(*one.claim, claim, table);
        });
    if (same == verdicts.end() - 1) return;
    last.verdict = Verdict::duplicate;
    last.found += fmt::format("; the same figures as {}", same->claim->line);
  }
}

}  // namespace

std::optional<Series::Range> Series::range(std::size_t place, Metric metric) const {
  if (!points[place] || by_seed[place].size() < 2) return std::nullopt;
  Range range{by_seed[place].front().of(metric), by_seed[place].front().of(metric)};
  for (const Figures& one : by_seed[place]) {
    range.least = std::min(range.least, one.of(metric));
    range.most = std::max(range.most, one.of(metric));
  }
  return range;
}

const Series* Table::find(std::string_view label) const noexcept {
  const auto found = std::ranges::find(series, label, &Series::label);
  return found == series.end() ? nullptr : &*found;
}

Table table_of(const Experiment& experiment, const Results& results, bool quick) {
  Table table;
  table.x = quick ? experiment.quick_values : experiment.values;
  for (const Line& line : experiment.lines) {
    Series& series = table.series.emplace_back();
    series.label = line.label;
    for (const double x : table.x) {
      std::vector<Figures> by_seed;
      bool complete = true;
      for (const std::vector<RunSpec>& of_seed : runs_at(experiment, line, x, quick)) {
        std::vector<Figures> all;
        for (std::size_t i = 0; i < of_seed.size(); ++i) {
          const RunSpec& run = of_seed[i];
          const auto found = results.find(run.text());
          if (found != results.end() && found->second.finished) {
            all.push_back(found->second);
            continue;
          }
          complete = false;
          if (found != results.end())
            series.problems.push_back(fmt::format(
                "x = {}{}: {}", quick ? x : x + experiment.around[i],
                experiment.seeds > 1 ? fmt::format(", seed {}", run.seed) : "", found->second.problem));
        }
        if (complete) by_seed.push_back(mean_of(all));
      }
      series.points.push_back(complete ? std::optional(mean_of(by_seed)) : std::nullopt);
      series.by_seed.push_back(std::move(by_seed));
    }
  }
  return table;
}

std::vector<ValueVerdict> judge_values(const Experiment& experiment, const Table& table) {
  std::vector<ValueVerdict> verdicts;
  for (const PaperValue& value : experiment.paper_values) {
    ValueVerdict& verdict = verdicts.emplace_back();
    verdict.value = &value;
    const double x = value.x.value_or(experiment.values.back());
    const auto at = static_cast<std::size_t>(std::ranges::find(table.x, x) - table.x.begin());
    const bool limit = value.line == "bus limit";
    const Series* series = limit ? &table.series.front() : table.find(value.line);
    std::optional<bool> holds;
    if (at < table.x.size() && series != nullptr && series->points[at]) {
      const Figures& point = *series->points[at];
      verdict.here = limit ? point.bus_limit_gigabytes : point.of(value.metric);
      if (!limit) verdict.range = series->range(at, value.metric);
      holds = std::abs(*verdict.here - value.value) <= value.within * value.value;
    }
    verdict.verdict = is_variant(experiment, value.line)          ? Verdict::variant
                      : value.input                               ? Verdict::input
                      : holds == true && !value.duplicate.empty() ? Verdict::duplicate
                                                                  : verdict_of(holds);
  }
  return verdicts;
}

std::vector<ClaimVerdict> judge_claims(const Experiment& experiment, const Table& table) {
  std::vector<ClaimVerdict> verdicts;
  for (const Claim& claim : experiment.claims) {
    ClaimVerdict& verdict = verdicts.emplace_back();
    verdict.claim = &claim;
    if (claim.check == Check::changes)
      judge_change(claim, table, verdict);
    else
      judge_points(experiment, claim, table, verdict);
    verdict.verdict = verdict_of(verdict.holds);
    if (!is_variant(experiment, claim)) {
      judge_evidence(verdicts, table);
      continue;
    }
    verdict.verdict = Verdict::variant;
    // With several points, the text already counts those at which the claim fails.
    if (verdict.holds == true)
      verdict.found = "holds; " + verdict.found;
    else if (verdict.holds && claim.check == Check::changes)
      verdict.found = "does not hold; " + verdict.found;
  }
  return verdicts;
}

}  // namespace fairlead::experiment
