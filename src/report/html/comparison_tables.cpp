// Tables that compare runs: time and transfers with their bounds, and the bytes of each link.
#include "report/html/comparison_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "config/value.hpp"
#include "report/html/comparison_traffic.hpp"
#include "report/html/html_table.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

namespace {

using memory::Cause;

/// The highest utilization of a memory.
std::string peak_cell(const RunReport& report) {
  double most = -1;
  std::string text;
  for (const NodeReport& node : report.nodes) {
    if (!node.capacity || *node.capacity == 0) continue;
    const double part = static_cast<double>(node.peak) / static_cast<double>(*node.capacity);
    if (part <= most) continue;
    most = part;
    text = fmt::format("{} ({})", config::readable_size(node.peak),
                       percent(static_cast<double>(node.peak), static_cast<double>(*node.capacity)));
  }
  return text;
}

class ComparedTable {
 public:
  explicit ComparedTable(const Comparison& comparison)
      : comparison_(comparison), directions_(directions_of(comparison)) {
    for (const TrafficDirection& direction : directions_)
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
        if (std::ranges::any_of(comparison.runs,
                                [&](const ComparedRun& run) { return direction.of(run)[cause].bytes != 0; }))
          columns_.push_back({&direction, cause});
  }

  std::string html() const {
    std::vector<std::string> heads{"policy", "time", "% of peak"};
    const TrafficDirection* last = nullptr;
    for (const auto& [direction, cause] : columns_) {
      if (direction != last) heads.push_back(direction->title);
      last = direction;
      heads.emplace_back(name_of(static_cast<Cause>(cause)));
    }
    for (const char* head : {"peak memory", "evictions", "deciding, per task"}) heads.emplace_back(head);
    HtmlTable table(comparison_.runs.size() == 1 ? "Compared with the bounds" : "Policies side by side",
                    heads);
    for (const ComparedRun& run : comparison_.runs) row(table, run);
    bounds(table);
    for (const ComparedRun& run : comparison_.runs)
      if (!finished(run))
        table.remark(fmt::format("{} did not finish: {}", run.report.scheduler, run.problem));
    return "<div class=\"wide\">" + table.take() + "</div>\n";
  }

 private:
  void row(HtmlTable& table, const ComparedRun& run) const {
    if (!finished(run)) return table.row({run.report.scheduler, "did not finish"});
    std::vector<std::string> cells{run.report.scheduler, readable_seconds(run.report.seconds),
                                   fmt::format("{:.1f}", comparison_.percent_of_peak(run.report))};
    const TrafficDirection* last = nullptr;
    for (const auto& [direction, cause] : columns_) {
      if (direction != last) cells.push_back(bytes_cell(sum(direction->of(run))));
      last = direction;
      cells.push_back(bytes_cell(direction->of(run)[cause].bytes));
    }
    cells.push_back(peak_cell(run.report));
    cells.push_back(with_commas(run.report.evictions));
    cells.push_back(fmt::format("{} ns", with_commas(static_cast<std::uint64_t>(run.decision_nanoseconds))));
    table.row(std::move(cells));
  }
  /// The rows of bounds, below the figures that they apply to.
  void bounds(HtmlTable& table) const {
    table.row({"bound: computing", readable_seconds(comparison_.compute_seconds), "100"}, "bound");
    if (comparison_.critical_path_seconds > 0)
      table.row({"bound: critical path", readable_seconds(comparison_.critical_path_seconds)}, "bound");
    const auto loads = [&](const char* what, Bytes bytes) {
      std::vector<std::string> cells{what, "", ""};
      const TrafficDirection* last = nullptr;
      for (const auto& [direction, cause] : columns_) {
        if (direction != last) cells.push_back(direction->bounded ? moved_bytes(bytes) : "");
        last = direction;
        cells.emplace_back();
      }
      if (std::ranges::any_of(directions_, &TrafficDirection::bounded)) table.row(std::move(cells), "bound");
    };
    if (comparison_.bus_limit_bytes != 0)
      loads("bus limit: gets through while computing", comparison_.bus_limit_bytes);
    if (!comparison_.io) return;
    loads("floor: bound + each byte once", comparison_.io->floor_read());
    loads("lower bound", comparison_.io->lower_bound());
  }

  const Comparison& comparison_;
  std::vector<TrafficDirection> directions_;
  std::vector<std::pair<const TrafficDirection*, std::size_t>> columns_;
};

/// The bytes of each link, if there are several.
std::string links(const Comparison& comparison) {
  std::vector<std::string> heads{"policy"};
  for (const ComparedRun& run : comparison.runs) {
    for (const LinkReport& link : run.report.links)
      if (std::ranges::find(heads, link.name) == heads.end() &&
          std::ranges::any_of(comparison.runs, [&](const ComparedRun& other) {
            const auto same = std::ranges::find(other.report.links, link.name, &LinkReport::name);
            return same != other.report.links.end() && sum(same->from_home) + sum(same->to_home) != 0;
          }))
        heads.push_back(link.name);
  }
  if (heads.size() < 3 || comparison.runs.size() < 2) return {};
  HtmlTable table("Bytes on each link, both directions", heads);
  for (const ComparedRun& run : comparison.runs) {
    if (!finished(run)) continue;
    std::vector<std::string> cells{run.report.scheduler};
    for (std::size_t i = 1; i < heads.size(); ++i) {
      const auto link = std::ranges::find(run.report.links, heads[i], &LinkReport::name);
      cells.push_back(link == run.report.links.end() ? ""
                                                     : bytes_cell(sum(link->from_home) + sum(link->to_home)));
    }
    table.row(std::move(cells));
  }
  return "<div class=\"wide\">" + table.take() + "</div>\n";
}

}  // namespace

std::string compared_tables(const Comparison& comparison) {
  return ComparedTable(comparison).html() + links(comparison);
}

}  // namespace fairlead::report::html
