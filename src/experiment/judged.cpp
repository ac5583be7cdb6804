// Ratios of times: below 1, the judged policy is faster.
#include "experiment/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "report/table_cells.hpp"

namespace fairlead::experiment {

namespace {

constexpr std::array<std::string_view, 16> published = {
    "eager",      "lws",        "dmda",         "dmdas",       "darts",        "ap",
    "ap-dplasma", "heteroprio", "laheteroprio", "heft-tm-pr",  "heft-tmdp-pr", "heft-tmdp-init",
    "static",     "owner-load", "owner-user",   "owner-random"};

struct JudgedPoint {
  const Experiment* experiment = nullptr;
  double x = 0;
  std::string best;
  double ratio = 0;  // time of the judged policy / time of the best
  double bound = 0;  // time of the best policy / lower bound
};

std::vector<JudgedPoint> points_of(std::span<const ExperimentOutcome> all) {
  std::vector<JudgedPoint> points;
  for (const ExperimentOutcome& outcome : all) {
    if (outcome.experiment->judged.empty()) continue;
    const Series* const judged = outcome.table.find(outcome.experiment->judged);
    for (std::size_t at = 0; at < outcome.table.x.size(); ++at) {
      JudgedPoint point{outcome.experiment, outcome.table.x[at], {}, 0, 0};
      double least = 0;
      for (const Series& series : outcome.table.series) {
        if (!series.points[at] || std::ranges::find(published, series.label) == published.end()) continue;
        const Figures& figures = *series.points[at];
        if (!point.best.empty() && figures.seconds >= least) continue;
        least = figures.seconds;
        point.best = series.label;
        const double possible = figures.critical_path_gflops > 0  // unknown with several ranks
                                    ? std::min(figures.best_gflops, figures.critical_path_gflops)
                                    : figures.best_gflops;
        point.bound = possible > 0 && figures.gflops > 0 ? possible / figures.gflops : 0;
      }
      if (judged == nullptr || !judged->points[at] || point.best.empty()) continue;
      point.ratio = judged->points[at]->seconds / least;
      points.push_back(point);
    }
  }
  return points;
}

std::string sums(const char* what, const std::vector<JudgedPoint>& points,
                 const std::function<bool(const JudgedPoint&)>& counts) {
  double logarithms = 0, worst = 0;
  std::size_t count = 0, above_3 = 0, above_10 = 0;
  for (const JudgedPoint& point : points) {
    if (!counts(point)) continue;
    ++count;
    logarithms += std::log(point.ratio);
    worst = std::max(worst, point.ratio);
    above_3 += point.ratio > 1.03;
    above_10 += point.ratio > 1.10;
  }
  if (count == 0) return fmt::format("| {} | 0 | | | | |\n", what);
  return fmt::format("| {} | {} | {:.3f} | {:.2f} | {} | {} |\n", what, count,
                     std::exp(logarithms / static_cast<double>(count)), worst, above_3, above_10);
}

}  // namespace

std::span<const std::string_view> published_policies() noexcept { return published; }

std::string judged(std::span<const ExperimentOutcome> all) {
  const std::vector<JudgedPoint> points = points_of(all);
  if (points.empty()) return "";
  std::string out = fmt::format(
      "### default: {} compared with the best published policy\n\nTime over that of the best of {} policies "
      "in the "
      "same "
      "case. Bound: how much longer the best one takes than processors and the critical path allow.\n\n| | | "
      "best | "
      "ratio | bound |\n|---|---|---|---|---|\n",
      points.front().experiment->judged, published.size());
  for (const JudgedPoint& point : points)
    out += fmt::format("| {} | {:g} {} | {} | {}{:.2f}{} | {:.2f} |\n",
                       report::markdown_cell(point.experiment->title), point.x, point.experiment->sweep,
                       point.best, point.ratio > 1.03 ? "**" : "", point.ratio,
                       point.ratio > 1.03 ? "**" : "", point.bound);
  constexpr double slack = 1.15;
  out += "\n| | cases | geometric mean | worst | above 1.03 | above 1.10 |\n|---|---|---|---|---|---|\n";
  out += sums("all", points, [](const JudgedPoint&) { return true; });
  out += sums("the best is 1.15 times the bound or more", points,
              [](const JudgedPoint& point) { return point.bound >= slack; });
  return out + "\n";
}

std::string judged_csv(std::span<const ExperimentOutcome> all) {
  std::string out = "experiment,x,judged,best,ratio,bound\n";
  for (const JudgedPoint& point : points_of(all))
    out += fmt::format("{},{:g},{},{},{:.4f},{:.4f}\n", point.experiment->name, point.x,
                       report::csv_cell(point.experiment->judged), point.best, point.ratio, point.bound);
  return out;
}

}  // namespace fairlead::experiment
