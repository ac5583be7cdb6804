// The rule for the limiting factor, and its texts.
#include "report/limiting_factor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/run_report.hpp"

namespace fairlead::report {

namespace {

constexpr double cores_missing = 0.25;
constexpr double mostly_files = 0.5, mostly_computing = 0.75, always_in_use = 0.9;

double part(double of, double whole) { return whole > 0 ? std::clamp(of / whole, 0.0, 1.0) : 0; }
std::string rounded(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

void fill_up_times(std::vector<WorkerReport>& workers, double seconds) {
  for (WorkerReport& worker : workers)
    worker.waiting_for_tasks_seconds =
        std::max(0.0, seconds - worker.busy_seconds - worker.waiting_for_data_seconds);
}

Measured measured(const std::vector<WorkerReport>& workers, double seconds,
                  const std::vector<LinkReport>& links) {
  Measured all{.seconds = seconds,
               .counted_seconds = seconds,
               .on_devices = std::ranges::any_of(
                   workers, [](const WorkerReport& worker) { return worker.on_device && worker.tasks > 0; }),
               .wires = {}};
  for (const WorkerReport& worker : workers) {
    if (all.on_devices && !worker.on_device) continue;
    ++all.workers;
    all.busy_seconds += worker.busy_seconds;
    all.waiting_for_data_seconds += worker.waiting_for_data_seconds;
    if (worker.on_core_seconds && worker.without_core_seconds) {
      all.on_core_seconds = all.on_core_seconds.value_or(0) + *worker.on_core_seconds;
      all.without_core_seconds = all.without_core_seconds.value_or(0) + *worker.without_core_seconds;
    }
  }
  for (const LinkReport& link : links)
    if (link.busy_seconds) all.wires.push_back({link.name, *link.busy_seconds});
  return all;
}

LimitingFactor limiting(const Measured& measured) {
  LimitingFactor it;
  it.on_devices = measured.on_devices;
  it.workers = measured.workers;
  it.tile = measured.tile;
  const double workers_time = measured.counted_seconds * measured.workers;
  it.files = part(measured.file_seconds, measured.seconds);
  it.busy = part(measured.busy_seconds, workers_time);
  it.waiting_for_data = std::min(part(measured.waiting_for_data_seconds, workers_time), 1 - it.busy);
  it.without_tasks = 1 - it.busy - it.waiting_for_data;
  const auto longest = std::ranges::max_element(measured.wires, {}, &Measured::LinkUse::busy_seconds);
  if (longest != measured.wires.end() && longest->busy_seconds > 0) {
    it.link = longest->name;
    it.link_busy = part(longest->busy_seconds, measured.counted_seconds);
  }

  if (measured.on_core_seconds && measured.without_core_seconds) {
    const double wanted = *measured.on_core_seconds + *measured.without_core_seconds;
    it.runnable_without_core = part(*measured.without_core_seconds, workers_time);
    it.runnable_on_core = wanted > 0 ? part(*measured.on_core_seconds, wanted) : 1;
    if (measured.cores != 0 && measured.workers > measured.cores)
      it.cores_taken_by = CoresTakenBy::too_many_workers;
    else if (measured.throttled_seconds > *measured.without_core_seconds / 2)
      it.cores_taken_by = CoresTakenBy::quota;
  }

  if (it.runnable_without_core >= cores_missing)
    it.limit = Limit::cores;
  else if (it.files >= mostly_files)
    it.limit = Limit::files;
  else if (it.busy >= mostly_computing)
    it.limit = Limit::computing;
  else if (!it.link.empty() && (it.link_busy >= always_in_use || it.waiting_for_data > it.without_tasks))
    it.limit = Limit::link;
  else
    it.limit = Limit::tasks;
  return it;
}

std::string_view LimitingFactor::name() const noexcept {
  switch (limit) {
    case Limit::cores:
      return cores_taken_by == CoresTakenBy::other_programs ? "other_programs"
             : cores_taken_by == CoresTakenBy::quota        ? "cpu_quota"
                                                            : "too_many_workers";
    case Limit::files:
      return "files";
    case Limit::computing:
      return "computing";
    case Limit::link:
      return link == "disk" ? "disk" : "link";
    case Limit::tasks:
      break;
  }
  return "tasks";
}

std::string LimitingFactor::display_name() const {
  switch (limit) {
    case Limit::cores:
      return cores_taken_by == CoresTakenBy::other_programs ? "other programs"
             : cores_taken_by == CoresTakenBy::quota        ? "the CPU quota of the control group"
                                                            : "more workers than cores";
    case Limit::files:
      return "reading and writing your files";
    case Limit::computing:
      return "computing";
    case Limit::link:
      return link == "disk" ? "the disk" : "the wire " + link;
    case Limit::tasks:
      break;
  }
  return "too few tasks";
}

std::string LimitingFactor::reason() const {
  const std::string computed =
      fmt::format("{} computed for {} of the time", on_devices ? "devices" : "workers", rounded(busy));
  switch (limit) {
    case Limit::cores:
      return fmt::format("{} had a core for {} of the time in which they wanted one",
                         on_devices ? "the threads of your devices" : "your workers",
                         rounded(*runnable_on_core));
    case Limit::files:
      return fmt::format("it took {} of the time", rounded(files));
    case Limit::computing:
      return computed;
    case Limit::link:
      return fmt::format("in use for {} of the time; {}, waited for data for {}", rounded(link_busy),
                         computed, rounded(waiting_for_data));
    case Limit::tasks:
      break;
  }
  return fmt::format("{}, had nothing to do for {}", workers, rounded(without_tasks));
}

std::string LimitingFactor::advice() const {
  switch (limit) {
    case Limit::cores:
      return cores_taken_by == CoresTakenBy::other_programs
                 ? "times and rates of this run say little about this machine"
                 : "fewer workers lose less";
    case Limit::files:
    case Limit::computing:
      return "";
    case Limit::link:
      return link_busy >= always_in_use ? "more memory means fewer copies" : "try a larger --pipeline-depth";
    case Limit::tasks:
      break;
  }
  std::string all;
  if (tile != 1) all = "smaller tiles make more tasks";
  if (workers > 1) all += all.empty() ? "fewer workers need fewer tasks" : "; fewer workers need fewer";
  return all;
}

}  // namespace fairlead::report
