// Encodes the timelines of workers under several policies compactly for the page, on one time axis. The axis is divided
// into equal steps; each row has the share of each kind of task per step, and equal consecutive steps are run-length
// encoded. timelines/timelines.js decodes them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/html/numbers.hpp"
#include "report/html/parts.hpp"

namespace fairlead::report::html {

namespace {

constexpr std::size_t most_rows = 256, most_steps = 1600, most_cells = 200'000;
constexpr double parts_of_step = 100;

using Step = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // kind, parts of the step

std::vector<Step> steps_of(const WorkerTimeline& timeline, std::size_t steps, double seconds) {
  std::vector<std::map<std::uint64_t, double>> shares(steps);
  for (const WorkerTimeline::Span& span : timeline.spans) {
    const double from = span.start / seconds * static_cast<double>(steps),
                 to = span.end / seconds * static_cast<double>(steps);
    for (auto step = static_cast<std::size_t>(from); step < steps && static_cast<double>(step) < to; ++step)
      shares[step][span.kind] +=
          std::min(to, static_cast<double>(step + 1)) - std::max(from, static_cast<double>(step));
  }
  std::vector<Step> all(steps);
  for (std::size_t step = 0; step < steps; ++step)
    for (const auto& [kind, share] : shares[step])
      if (const auto parts = static_cast<std::uint64_t>(std::lround(share * parts_of_step)); parts != 0)
        all[step].emplace_back(kind, parts);
  return all;
}

void add_row(Numbers& numbers, const std::vector<Step>& steps) {
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t end = at + 1;
    while (end < steps.size() && steps[end] == steps[at]) ++end;
    numbers.add(end - at);
    numbers.add(steps[at].size());
    for (const auto& [kind, parts] : steps[at]) {
      numbers.add(kind);
      numbers.add(parts);
    }
    at = end;
  }
}

}  // namespace

std::optional<PictureData> timeline_data(const Comparison& comparison) {
  std::vector<const ComparedRun*> shown;
  std::size_t rows = 0;
  double seconds = 0;
  bool left_out = false;
  for (const ComparedRun& run : comparison.runs) {
    if (run.timelines.empty()) continue;
    if (!shown.empty() && rows + run.timelines.size() > most_rows) {
      left_out = true;
      break;
    }
    shown.push_back(&run);
    rows += run.timelines.size();
    seconds = std::max(seconds, run.report.seconds);
  }
  if (shown.empty() || !(seconds > 0)) return {};
  const std::size_t steps = std::clamp<std::size_t>(most_cells / rows, 200, most_steps);
  Numbers numbers;
  Json runs = Json::array(), kinds = Json::array();
  for (const ComparedRun* run : shown) {
    Json workers = Json::array();
    for (const WorkerTimeline& timeline : run->timelines) {
      workers.add(Json(timeline.worker));
      add_row(numbers, steps_of(timeline, steps, seconds));
    }
    runs.add(Json::object({{"name", run->report.scheduler},
                           {"seconds", run->report.seconds},
                           {"limit", run->report.limiting ? run->report.limiting->display_name() : ""},
                           {"workers", std::move(workers)}}));
  }
  for (const std::string& kind : comparison.kinds) kinds.add(Json(kind));
  return PictureData{embedded(Json::object({{"steps", steps},
                                            {"seconds", seconds},
                                            {"at_best", comparison.compute_seconds},
                                            {"left_out", left_out},
                                            {"kinds", std::move(kinds)},
                                            {"runs", std::move(runs)}})),
                     numbers.base64()};
}

}  // namespace fairlead::report::html
