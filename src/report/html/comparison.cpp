// Runs side by side: what each took and moved beside what bounds it, as a table and as bars.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "config/value.hpp"
#include "memory/replica.hpp"
#include "report/html/parts.hpp"
#include "report/html/table.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

namespace {

using memory::Cause;
using ByCause = std::array<Traffic, memory::cause_count>;

Bytes sum(const ByCause& traffic) {
  Bytes bytes = 0;
  for (const Traffic& one : traffic) bytes += one.bytes;
  return bytes;
}

bool finished(const ComparedRun& run) { return run.problem.empty(); }

/// All links of a sort in one direction; between devices, which all are as far from home, in both.
struct Direction {
  std::string title;  ///< "to devices"
  std::string total;
  bool from_home = false, to_home = false;
  bool bounded = false;  ///< by what the comparison says of loads

  ByCause of(const ComparedRun& run) const {
    ByCause all{};
    const auto found = std::ranges::find(run.totals, total, &LinkReport::name);
    if (found == run.totals.end()) return all;
    for (std::size_t cause = 0; cause < all.size(); ++cause)
      all[cause].bytes =
          (from_home ? found->from_home[cause].bytes : 0) + (to_home ? found->to_home[cause].bytes : 0);
    return all;
  }
};

/// Those in which something was moved in some run.
std::vector<Direction> directions_of(const Comparison& comparison) {
  std::vector<Direction> all;
  const auto add = [&](const char* title, const char* total, bool from_home, bool to_home) {
    const Direction direction{title, total, from_home, to_home,
                              from_home && total == comparison.bounded_total};
    if (std::ranges::any_of(comparison.runs,
                            [&](const ComparedRun& run) { return sum(direction.of(run)) != 0; }))
      all.push_back(direction);
  };
  add("from disk", "disk", true, false);
  add("to disk", "disk", false, true);
  add("to devices", "devices", true, false);
  add("from devices", "devices", false, true);
  add("between devices", "between devices", true, true);
  return all;
}

std::string bytes_cell(Bytes bytes) { return bytes == 0 ? "-" : moved_bytes(bytes); }

/// The memory that was fullest, and how full.
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
    for (const Direction& direction : directions_)
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
        if (std::ranges::any_of(comparison.runs,
                                [&](const ComparedRun& run) { return direction.of(run)[cause].bytes != 0; }))
          columns_.push_back({&direction, cause});
  }

  std::string html() const {
    std::vector<std::string> heads{"policy", "time", "% of peak"};
    const Direction* last = nullptr;
    for (const auto& [direction, cause] : columns_) {
      if (direction != last) heads.push_back(direction->title);
      last = direction;
      heads.emplace_back(name_of(static_cast<Cause>(cause)));
    }
    for (const char* head : {"peak memory", "evictions", "deciding, per task"}) heads.emplace_back(head);
    Table table(comparison_.runs.size() == 1 ? "Beside the bounds" : "Policies side by side", heads);
    for (const ComparedRun& run : comparison_.runs) row(table, run);
    bounds(table);
    for (const ComparedRun& run : comparison_.runs)
      if (!finished(run))
        table.remark(fmt::format("{} did not finish: {}", run.report.scheduler, run.problem));
    return "<div class=\"wide\">" + table.take() + "</div>\n";
  }

 private:
  void row(Table& table, const ComparedRun& run) const {
    if (!finished(run)) return table.row({run.report.scheduler, "did not finish"});
    std::vector<std::string> cells{run.report.scheduler, readable_seconds(run.report.seconds),
                                   fmt::format("{:.1f}", comparison_.percent_of_peak(run.report))};
    const Direction* last = nullptr;
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
  /// Under the figures that they bound.
  void bounds(Table& table) const {
    table.row({"bound: computing", readable_seconds(comparison_.compute_seconds), "100"}, "bound");
    if (comparison_.critical_path_seconds > 0)
      table.row({"bound: critical path", readable_seconds(comparison_.critical_path_seconds)}, "bound");
    const auto loads = [&](const char* what, Bytes bytes) {
      std::vector<std::string> cells{what, "", ""};
      const Direction* last = nullptr;
      for (const auto& [direction, cause] : columns_) {
        if (direction != last) cells.push_back(direction->bounded ? moved_bytes(bytes) : "");
        last = direction;
        cells.emplace_back();
      }
      if (std::ranges::any_of(directions_, &Direction::bounded)) table.row(std::move(cells), "bound");
    };
    if (comparison_.bus_limit_bytes != 0)
      loads("bus limit: gets through while computing", comparison_.bus_limit_bytes);
    if (!comparison_.io) return;
    loads("floor: bound + each byte once", comparison_.io->floor_read());
    loads("lower bound", comparison_.io->lower_bound());
  }

  const Comparison& comparison_;
  std::vector<Direction> directions_;
  std::vector<std::pair<const Direction*, std::size_t>> columns_;
};

/// Bytes of each wire, where there are several.
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
  Table table("Bytes on each link, both directions", heads);
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

struct Part {
  double amount = 0;
  std::string colour, what;
};
struct Mark {
  double at = 0;
  const char* kind;  ///< a class of the style: "" a line, "soft" a dotted one
  std::string what;
};

/// A bar for each run that finished, its parts one after the other, and marks across all.
class Bars {
 public:
  Bars(std::string title, std::vector<Mark> marks) : title_(std::move(title)), marks_(std::move(marks)) {
    for (const Mark& mark : marks_) most_ = std::max(most_, mark.at);
  }
  void bar(const std::string& name, std::vector<Part> parts, std::string total) {
    double all = 0;
    for (const Part& part : parts) all += part.amount;
    most_ = std::max(most_, all);
    rows_.push_back({name, std::move(parts), std::move(total)});
  }
  std::string html() const {
    std::string text = fmt::format("<section><h2>{}</h2>\n<div class=\"bars\">\n", escaped(title_));
    for (const Row& row : rows_) {
      text += fmt::format("<span>{}</span><div>", escaped(row.name));
      for (const Part& part : row.parts)
        if (part.amount > 0)
          text += fmt::format("<i style=\"width:{:.3f}%;background:var(--{})\" title=\"{}\"></i>",
                              100 * part.amount / most_, part.colour, escaped(part.what));
      for (const Mark& mark : marks_)
        text += fmt::format("<b class=\"{}\" style=\"left:{:.3f}%\" title=\"{}\"></b>", mark.kind,
                            std::min(99.6, 100 * mark.at / most_), escaped(mark.what));
      text += fmt::format("</div><span>{}</span>\n", escaped(row.total));
    }
    text += "</div>\n";
    for (const Mark& mark : marks_)
      text += fmt::format("<p>{}: {}</p>\n", *mark.kind == '\0' ? "line" : "dotted line", escaped(mark.what));
    return text + "</section>\n";
  }

 private:
  struct Row {
    std::string name;
    std::vector<Part> parts;
    std::string total;
  };
  std::string title_;
  std::vector<Mark> marks_;
  std::vector<Row> rows_;
  double most_ = 1e-300;
};

std::string time_bars(const Comparison& comparison) {
  Bars bars("Time", {{comparison.compute_seconds, "",
                      "at best, computing alone: " + readable_seconds(comparison.compute_seconds)}});
  for (const ComparedRun& run : comparison.runs)
    if (finished(run))
      bars.bar(run.report.scheduler, {{run.report.seconds, "c0", readable_seconds(run.report.seconds)}},
               fmt::format("{}, {:.0f} %", readable_seconds(run.report.seconds),
                           comparison.percent_of_peak(run.report)));
  return bars.html();
}

std::string byte_bars(const Comparison& comparison, const Direction& direction) {
  std::vector<Mark> marks;
  if (direction.bounded && comparison.bus_limit_bytes != 0)
    marks.push_back({static_cast<double>(comparison.bus_limit_bytes), "",
                     "what gets through while computing: " + moved_bytes(comparison.bus_limit_bytes)});
  if (direction.bounded && comparison.io)
    marks.push_back({static_cast<double>(comparison.io->lower_bound()), "soft",
                     "lower bound: " + moved_bytes(comparison.io->lower_bound())});
  std::string title = "Bytes " + direction.title;
  Bars bars(title, marks);
  for (const ComparedRun& run : comparison.runs) {
    if (!finished(run)) continue;
    const ByCause traffic = direction.of(run);
    std::vector<Part> parts;
    for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
      parts.push_back(
          {static_cast<double>(traffic[cause].bytes), fmt::format("u{}", cause),
           fmt::format("{}: {}", name_of(static_cast<Cause>(cause)), moved_bytes(traffic[cause].bytes))});
    bars.bar(run.report.scheduler, std::move(parts), bytes_cell(sum(traffic)));
  }
  return bars.html();
}

std::string causes() {
  std::string text = "<div class=\"legend\">";
  for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
    text += fmt::format("<span><i style=\"background:var(--u{})\"></i>{}</span>", cause,
                        name_of(static_cast<Cause>(cause)));
  return text + "</div>\n";
}

}  // namespace

std::string compared(const Comparison& comparison) {
  std::string text = "<section id=\"compared\" aria-label=\"Policies side by side\">\n";
  if (comparison.runs.size() > 1) {
    text += "<div class=\"charts\">\n" + time_bars(comparison);
    for (const Direction& direction : directions_of(comparison)) text += byte_bars(comparison, direction);
    text += "</div>\n" + causes();
  }
  return text + ComparedTable(comparison).html() + links(comparison) + "</section>\n";
}

}  // namespace fairlead::report::html
