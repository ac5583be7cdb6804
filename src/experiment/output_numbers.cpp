// Numbers in three digits, and the bounds that belong to each metric.
#include "experiment/output_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/overview.hpp"

namespace fairlead::experiment {

std::string short_number(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.3g}", value);
}

std::string cell(const std::optional<Figures>& point, Metric metric) {
  return point ? short_number(point->of(metric)) : std::string("-");
}

std::string text_of(const std::optional<Series::Range>& range) {
  return range ? fmt::format("{}-{}", short_number(range->least), short_number(range->most)) : "";
}
std::string in_brackets(const std::string& text) { return text.empty() ? "" : fmt::format(" ({})", text); }

std::vector<std::pair<std::string, double (*)(const Figures&)>> bounds_of(Metric metric) {
  constexpr auto lower_bound = [](const Figures& figures) { return figures.lower_bound_gigabytes; };
  constexpr auto floor = [](const Figures& figures) { return figures.floor_gigabytes; };
  switch (metric) {
    case Metric::gflops:
      return {{"all processors at their best", [](const Figures& figures) { return figures.best_gflops; }},
              {"critical path", [](const Figures& figures) { return figures.critical_path_gflops; }}};
    case Metric::percent_of_peak:
      return {{"critical path", critical_path_percent}};
    case Metric::gigabytes_to_devices:
    case Metric::gigabytes_from_disk:
      return {{"bus limit", [](const Figures& figures) { return figures.bus_limit_gigabytes; }},
              {"lower bound", lower_bound},
              {"floor", floor}};
    case Metric::gigabytes_moved:  // what is loaded is a part of it
      return {{"lower bound (loads)", lower_bound}, {"floor (loads)", floor}};
    default:
      return {};
  }
}

bool several_seeds(const Series& series) {
  return std::ranges::any_of(series.by_seed, [](const auto& runs) { return runs.size() > 1; });
}

double bound_at(const Table& table, std::size_t at, double (*bound)(const Figures&)) {
  for (const Series& series : table.series)
    if (series.points[at]) return bound(*series.points[at]);
  return 0;
}

bool is_known(const Table& table, double (*bound)(const Figures&)) {
  for (std::size_t at = 0; at < table.x.size(); ++at)
    if (bound_at(table, at, bound) > 0) return true;
  return false;
}

}  // namespace fairlead::experiment
