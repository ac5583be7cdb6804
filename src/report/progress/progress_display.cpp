// Composes the line: which parts, how long, when.
#include "report/progress/progress_display.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "report/units.hpp"

namespace fairlead::report {

namespace {

constexpr Time between_lines = std::chrono::seconds(5), longest_silence = std::chrono::minutes(1);
constexpr double fraction_between_lines = 0.1;
// Before this the first tasks are not representative.
constexpr Time time_before_guessing = std::chrono::seconds(1);
constexpr double fraction_before_guessing = 0.01;

// Rounded down: 100 % is when all is done.
int whole_percent(double fraction) { return static_cast<int>(std::floor(100 * fraction)); }

double fraction_done(const ProgressSnapshot& snapshot) {
  // Sums of flops are rounded, and counts are read one after the other: all is done when all tasks are.
  if (snapshot.tasks_total > 0 && snapshot.tasks_done >= snapshot.tasks_total) return 1;
  constexpr double nearly_all = 0.9999;
  if (snapshot.flops_total > 0)
    return std::clamp(snapshot.flops_done / snapshot.flops_total, 0.0, nearly_all);
  if (snapshot.tasks_total == 0) return 0;
  return std::min(static_cast<double>(snapshot.tasks_done) / static_cast<double>(snapshot.tasks_total),
                  nearly_all);
}

std::string tasks_briefly(const ProgressSnapshot& snapshot) {
  return fmt::format("{}/{}", with_commas(snapshot.tasks_done), with_commas(snapshot.tasks_total));
}

std::string tasks(const ProgressSnapshot& snapshot) { return tasks_briefly(snapshot) + " tasks"; }

std::string moved(const ProgressSnapshot& snapshot) {
  return fmt::format("read {}, wrote {}", moved_bytes(snapshot.bytes_read),
                     moved_bytes(snapshot.bytes_written));
}

std::string moved_briefly(const ProgressSnapshot& snapshot) {
  return fmt::format("r {} w {}", moved_bytes(snapshot.bytes_read), moved_bytes(snapshot.bytes_written));
}

// The parts of the text next to the bar. If space is short, the least important is dropped first.
struct Part {
  int importance;
  std::string text;
  std::string brief{};  // a shorter text; empty: there is none
};

constexpr int phase_importance = 0, percent_importance = 5;

std::vector<Part> parts(const ProgressSnapshot& snapshot, double fraction,
                        const std::optional<double>& gflops, const std::optional<double>& seconds_left) {
  std::vector<Part> all;
  const bool known = snapshot.tasks_total > 0;
  if (known) all.push_back({percent_importance, fmt::format("{:3} %", whole_percent(fraction))});
  if (!snapshot.phase.empty())
    all.push_back({known ? phase_importance : percent_importance, std::string(snapshot.phase)});
  if (known) all.push_back({2, tasks(snapshot), tasks_briefly(snapshot)});
  if (gflops) all.push_back({3, fmt::format("{:.0f} GFlop/s", *gflops)});
  all.push_back({1, moved(snapshot), moved_briefly(snapshot)});
  if (seconds_left) all.push_back({4, clock_time(*seconds_left) + " left"});
  return all;
}

std::string joined(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) text += (text.empty() ? "" : "  ") + part.text;
  return text;
}

// At most `room` columns: drops the phase, then words, then the bar, then parts.
std::string fitted(std::vector<Part> parts, double fraction, bool with_bar, std::size_t room) {
  constexpr std::size_t shortest = 8, longest = 30, frame = 4;  // "[]" and two blanks
  const std::size_t bar_room = with_bar ? shortest + frame : 0;
  const auto fits = [&](std::size_t reserved) { return joined(parts).size() + reserved <= room; };
  if (!fits(bar_room))
    std::erase_if(parts, [](const Part& part) { return part.importance == phase_importance; });
  if (!fits(bar_room))
    for (Part& part : parts)
      if (!part.brief.empty()) part.text = part.brief;
  if (with_bar && fits(bar_room)) {
    const std::string text = joined(parts);
    const std::size_t length = std::min(room - text.size() - frame, longest);
    const auto fill_template = static_cast<std::size_t>(fraction * static_cast<double>(length));
    return fmt::format("[{}{}]  {}", std::string(fill_template, '#'),
                       std::string(length - fill_template, '.'), text);
  }
  while (parts.size() > 1 && !fits(0)) parts.erase(std::ranges::min_element(parts, {}, &Part::importance));
  return joined(parts).substr(0, room);
}

}  // namespace

ProgressStyle progress_style(std::string_view setting, int fd) {
  if (setting == "none") return ProgressStyle::none;
  if (setting == "lines") return ProgressStyle::lines;
  if (setting == "bar") return ProgressStyle::bar;
  return isatty(fd) == 1 ? ProgressStyle::bar : ProgressStyle::lines;
}

std::string ProgressDisplay::at(Time now, const ProgressSnapshot& snapshot, std::size_t columns) {
  if (style_ == ProgressStyle::none) return {};
  if (!began_ || snapshot.phase != at_phase_begin_.phase) enter_phase(now, snapshot);
  const Estimate estimated = estimate(now, snapshot);
  if (style_ == ProgressStyle::bar) return bar(snapshot, estimated, columns);

  const bool too_soon = now - last_line_.value_or(*began_) < between_lines;
  const bool further = estimated.fraction >= last_line_fraction_ + fraction_between_lines;
  const bool quiet = now - last_line_.value_or(*began_) >= longest_silence;
  return !too_soon && (further || quiet) ? line(now, snapshot, estimated) : std::string();
}

std::string ProgressDisplay::end(Time now, const ProgressSnapshot& snapshot) {
  if (style_ == ProgressStyle::none) return {};
  if (style_ == ProgressStyle::bar) return abandon();
  if (!began_ || snapshot.phase != at_phase_begin_.phase) enter_phase(now, snapshot);
  if (last_line_ && snapshot.tasks_done == last_line_tasks_) return {};
  return line(now, snapshot, estimate(now, snapshot));
}

std::string ProgressDisplay::abandon() {
  // Blanks instead of a control sequence, which not every terminal has.
  std::string blank = drawn_ == 0 ? std::string() : '\r' + std::string(drawn_, ' ') + '\r';
  drawn_ = 0;
  return blank;
}

void ProgressDisplay::enter_phase(Time now, const ProgressSnapshot& snapshot) {
  if (!began_) began_ = now;
  phase_began_ = now;
  at_phase_begin_ = snapshot;
  last_line_fraction_ = 0;
}

ProgressDisplay::Estimate ProgressDisplay::estimate(Time now, const ProgressSnapshot& snapshot) const {
  Estimate estimated{.fraction = fraction_done(snapshot)};
  const double elapsed = seconds(now - phase_began_),
               flops = snapshot.flops_done - at_phase_begin_.flops_done,
               done = estimated.fraction - fraction_done(at_phase_begin_);
  if (elapsed > 0 && flops > 0) estimated.gflops = flops / elapsed / 1e9;
  if (now - phase_began_ >= time_before_guessing && done >= fraction_before_guessing)
    estimated.seconds_left = elapsed * (1 - estimated.fraction) / done;
  return estimated;
}

std::string ProgressDisplay::bar(const ProgressSnapshot& snapshot, const Estimate& estimated,
                                 std::size_t columns) {
  const std::size_t room = columns > 0 ? columns - 1 : 0;
  const std::string text =
      fitted(parts(snapshot, estimated.fraction, estimated.gflops, estimated.seconds_left),
             estimated.fraction, snapshot.tasks_total > 0, room);
  // Covers the rest of a longer previous line, but not beyond the terminal, which may have become narrower.
  const std::size_t covered = std::max(text.size(), std::min(drawn_, room));
  drawn_ = text.size();
  return fmt::format("\r{:<{}}", text, covered);
}

std::string ProgressDisplay::line(Time now, const ProgressSnapshot& snapshot, const Estimate& estimated) {
  last_line_ = now;
  last_line_fraction_ = estimated.fraction;
  last_line_tasks_ = snapshot.tasks_done;
  std::vector<std::string> parts;
  if (snapshot.tasks_total > 0) {
    parts.push_back(fmt::format("{} %", whole_percent(estimated.fraction)));
    parts.push_back(tasks(snapshot));
  }
  if (estimated.gflops) parts.push_back(fmt::format("{:.0f} GFlop/s", *estimated.gflops));
  parts.push_back(moved(snapshot));
  parts.push_back(clock_time(seconds(now - *began_)) + " elapsed");
  if (estimated.seconds_left && estimated.fraction < 1)
    parts.push_back(clock_time(*estimated.seconds_left) + " left");
  const std::string_view label = snapshot.phase.empty() ? "progress" : snapshot.phase;
  return fmt::format("{}: {}\n", label, fmt::join(parts, ", "));
}

}  // namespace fairlead::report
