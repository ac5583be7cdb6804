// The full report of a run as text: setting, speed, transfers, memory and the time of workers, with measured values
// next to their bounds.
#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "config/value.hpp"
#include "report/run_report.hpp"
#include "report/text_page.hpp"
#include "report/units.hpp"

namespace fairlead::report {

namespace {

using config::readable_size;
using memory::Cause;

constexpr std::size_t most_workers_listed = 8;

void setting(TextPage& page, const RunReport& report) {
  page.parts("Fairlead", {report.version, report.operation, report.date}, "   ");
  if (!report.machine.empty()) page.row("", report.machine);
  page.blank();
  page.row("Problem",
           fmt::format("{}, {}, {} x {} tiles of {}", size_text(report), report.element,
                       with_commas(report.tile_rows()), with_commas(report.tiles), with_commas(report.tile)));
  page.parts("Setting",
             {fmt::format("{} worker{}", report.workers, report.workers == 1 ? "" : "s"),
              "scheduler " + scheduler_text(report), "kernels " + report.kernels,
              report.front == "ptg"   ? "parameterized graph"
              : report.front == "jdf" ? "parameterized graph in JDF"
                                      : "",
              fmt::format("memory limit {}", readable_size(report.memory_limit_bytes)),
              report.spill_directory ? "spill file in " + *report.spill_directory : "",
              report.disk_cap_bytes_per_second
                  ? fmt::format("disk capped at {}/s",
                                moved_bytes(static_cast<Bytes>(*report.disk_cap_bytes_per_second)))
                  : ""},
             ", ");
  if (const std::string devices = devices_text(report); !devices.empty()) page.row("Devices", devices);
}

void speed(TextPage& page, const RunReport& report) {
  page.blank();
  page.parts("Time", times(report), "");
  if (report.limiting) page.parts("Limited by", sentences(*report.limiting, false), "; ");
  page.row("Speed", fmt::format("{:.1f} GFlop/s", report.gflops));
  if (report.gemm_peak_gflops)
    page.row("", fmt::format("{} of GEMM peak, {:.1f} (measured, every worker multiplying tiles)",
                             percent(report.gflops, *report.gemm_peak_gflops), *report.gemm_peak_gflops));
  if (report.ceiling_gflops)
    page.row("", fmt::format("{} of the tiled ceiling, {:.1f} (bound: these kernels, a perfect schedule)",
                             percent(report.gflops, *report.ceiling_gflops), *report.ceiling_gflops));
  if (report.ceiling)
    page.row("", fmt::format("bounds in time: {} of computing on all workers, {} along the critical path",
                             readable_seconds(report.ceiling->compute_seconds),
                             readable_seconds(report.ceiling->critical_path_seconds)));
  if (!report.method_reason.empty())
    page.row("Method", fmt::format("{}, since {}", report.method, report.method_reason));
  if (report.backward_error)
    page.row("Backward error",
             fmt::format("{:.2e}", *report.backward_error) +
                 (report.refinement_steps
                      ? fmt::format(", after {} step{} of refinement in double precision",
                                    *report.refinement_steps, *report.refinement_steps == 1 ? "" : "s")
                      : "") +
                 (report.rounded_in_file
                      ? fmt::format(", before x was rounded by {:.2e} in its file", *report.rounded_in_file)
                      : ""));
  if (report.asymmetry)
    page.row("Symmetry",
             fmt::format("the triangles differ by up to {:.1e}: factored with the lower one, refined and "
                         "judged with A as it is",
                         *report.asymmetry));
  if (report.growth)
    page.row("Growth", fmt::format("{:.3g}: the largest element of U divided by that of A", *report.growth));
  if (report.numerical_rank) page.row("Rank", text_of(*report.numerical_rank));
  if (report.residual) page.row("Residual", text_of(*report.residual, is_rank_reduced(report)));
  if (const auto& condition = report.condition) {
    page.row("Condition",
             fmt::format("{:.1e} in the {}, {}", condition->number, condition->norm(),
                         condition->is_exact ? "from the singular values"
                         : condition->sweeps == 0
                             ? "estimated in the sweeps of the refinement"
                             : fmt::format("estimated with {} sweeps over the factor in {}",
                                           condition->sweeps, readable_seconds(condition->seconds))));
    page.row("Forward error",
             condition->digits == 0
                 ? "no digit is certain"
                 : fmt::format("at most {:.1e} of the largest component{}, which leaves {} digit{}",
                               condition->forward_error, condition->columns > 1 ? " in each column of x" : "",
                               condition->digits, condition->digits == 1 ? "" : "s"));
  }
  page.row("Tasks", fmt::format("{}, with {} eviction{} from memory", with_commas(report.tasks),
                                with_commas(report.evictions), report.evictions == 1 ? "" : "s"));
  std::vector<std::string> kernels;
  double gflop = 0;
  for (const KernelReport& kernel : report.kernel_calls) gflop += kernel.gflop;
  for (const KernelReport& kernel : report.kernel_calls)
    kernels.push_back(fmt::format("{} {} ({} of the operations)", kernel.name, with_commas(kernel.calls),
                                  percent(kernel.gflop, gflop)));
  page.parts("Kernels", kernels, ", ");
}

void moved_row(TextPage& page, std::string_view what, std::string_view read, std::string_view written,
               std::string_view both, std::string_view note = "") {
  page.row("", fmt::format("{:<22}{:>12}{:>12}{:>12}   {}", what, read, written, both, note));
}

void moved(TextPage& page, const RunReport& report) {
  page.blank();
  if (report.generated.copies != 0)
    page.row("Generated",
             fmt::format("{} tile{}, {}, when they were first needed: not read",
                         with_commas(report.generated.copies), report.generated.copies == 1 ? "" : "s",
                         moved_bytes(report.generated.bytes)));
  page.row("Disk", fmt::format("{:<22}{:>12}{:>12}{:>12}", "", "read", "written", "both"));
  const Bytes both = report.bytes_read + report.bytes_written;
  moved_row(page, "measured", moved_bytes(report.bytes_read), moved_bytes(report.bytes_written),
            moved_bytes(both));
  if (report.kernel_bytes_read && report.kernel_bytes_written)
    moved_row(page, "by the kernel's count", moved_bytes(*report.kernel_bytes_read),
              moved_bytes(*report.kernel_bytes_written),
              moved_bytes(*report.kernel_bytes_read + *report.kernel_bytes_written));
  if (report.io_bounds() == nullptr) return;
  const IoBounds& bounds = *report.io_bounds();
  moved_row(page, "floor", moved_bytes(bounds.floor_read()), moved_bytes(bounds.results),
            moved_bytes(bounds.floor()), bounds.fits ? "all fits: each once" : "bound + each byte once");
  moved_row(page, "measured / floor", ratio(report.bytes_read, bounds.floor_read()),
            ratio(report.bytes_written, bounds.results), ratio(both, bounds.floor()));
  moved_row(page, "lower bound", moved_bytes(bounds.lower_bound()), "", "",
            bounds.lower_bound() > bounds.inputs ? "proved, leading term" : "each input once");
  moved_row(page, "measured / bound", ratio(report.bytes_read, bounds.lower_bound()), "", "");
}

void link_row(TextPage& page, std::string_view heading, std::string_view name, std::string_view direction,
              const std::array<TransferTotals, memory::cause_count>& traffic) {
  std::string line = fmt::format("{:<12} {:<9}", name, direction);
  std::uint64_t copies = 0;
  for (const TransferTotals& one : traffic) {
    line += fmt::format("{:>11}", one.copies == 0 && one.bytes == 0 ? "-" : moved_bytes(one.bytes));
    copies += one.copies;
  }
  page.row(heading, line + fmt::format("{:>14}", with_commas(copies)));
}

void links(TextPage& page, const RunReport& report) {
  if (report.links.empty()) return;
  page.blank();
  std::string heads = fmt::format("{:<22}", "");
  for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
    heads += fmt::format("{:>11}", name_of(static_cast<Cause>(cause)));
  page.row("Links", heads + fmt::format("{:>14}", "copies"));
  for (const LinkReport& link : report.links) {
    link_row(page, "", link.name, "from home", link.from_home);
    link_row(page, "", "", "to home", link.to_home);
  }
}

void memory_use(TextPage& page, const RunReport& report) {
  page.blank();
  page.row("Memory", fmt::format("{:<22}{:>12}{:>14}", "", "peak", "of"));
  const auto row = [&page](std::string_view what, Bytes peak, std::optional<Bytes> of,
                           std::string_view note) {
    page.row("", fmt::format("{:<22}{:>12}{:>14}{:>8}   {}", what, readable_size(peak),
                             of ? readable_size(*of) : "",
                             of ? percent(static_cast<double>(peak), static_cast<double>(*of)) : "", note));
  };
  for (const NodeReport& node : report.nodes)
    row(node.name, node.peak, node.capacity, node.lost.empty() ? "" : "lost");
  row("under the limit", report.peak_memory_bytes, report.memory_limit_bytes, "measured by Fairlead");
  if (const auto outside = report.unaccounted_bytes())
    row("outside it", *outside, {}, "the rest of the process");
  if (report.resident_parts) {
    row("  code, libraries", report.resident_parts->files, {}, "");
    row("  from malloc", report.resident_parts->heap, {}, "at the end");
  }
  if (report.peak_resident_bytes) row("process", *report.peak_resident_bytes, {}, "measured by the kernel");
}

void worker_row(TextPage& page, std::string_view what, const WorkerReport& worker) {
  const double all = worker.all();
  const auto cell = [all](double seconds) {
    return fmt::format("{:>10}{:>7}", readable_seconds(seconds), percent(seconds, all));
  };
  page.row("", fmt::format("{:<5}{}{}{}{}{:>11}", what, cell(worker.busy_seconds),
                           cell(worker.waiting_for_data_seconds), cell(worker.waiting_for_tasks_seconds),
                           worker.on_core_seconds ? cell(*worker.on_core_seconds) : "",
                           with_commas(worker.tasks)));
}

void workers(TextPage& page, const RunReport& report) {
  const std::vector<WorkerReport>& all = report.worker_times;
  if (all.empty()) return;
  page.blank();
  const bool counted =
      std::ranges::all_of(all, [](const WorkerReport& one) { return one.on_core_seconds.has_value(); });
  page.row("Workers",
           fmt::format("{:<5}{:>17}{:>17}{:>17}{}{:>11}", "", "computed", "waiting for data",
                       "without a task", counted ? fmt::format("{:>17}", "CPU time") : "", "tasks"));
  if (all.size() <= most_workers_listed) {
    for (std::size_t i = 0; i < all.size(); ++i) worker_row(page, fmt::format("{}", i), all[i]);
    return;
  }
  WorkerReport mean;
  for (const WorkerReport& one : all) {
    mean.busy_seconds += one.busy_seconds / static_cast<double>(all.size());
    mean.waiting_for_data_seconds += one.waiting_for_data_seconds / static_cast<double>(all.size());
    mean.waiting_for_tasks_seconds += one.waiting_for_tasks_seconds / static_cast<double>(all.size());
    mean.tasks += one.tasks;
    if (counted)
      mean.on_core_seconds =
          mean.on_core_seconds.value_or(0) + *one.on_core_seconds / static_cast<double>(all.size());
  }
  mean.tasks /= all.size();
  worker_row(page, "mean", mean);
  const auto [idlest, busiest] = std::ranges::minmax_element(all, {}, &WorkerReport::busy_seconds);
  worker_row(page, fmt::format("{}", std::distance(all.begin(), idlest)), *idlest);
  worker_row(page, fmt::format("{}", std::distance(all.begin(), busiest)), *busiest);
  page.row("", fmt::format("the mean of {}, the least busy, the busiest", all.size()));
}

/// The transfers between pairs of ranks, longest wait first; limited to some pairs.
void values_from_ranks(TextPage& page, const RunReport& report) {
  struct Pair {
    std::size_t to, from;
    const FromRankReport* of;
    double waited() const noexcept { return of->waited_seconds.value_or(of->in_flight_seconds); }
  };
  std::vector<Pair> pairs;
  for (std::size_t to = 0; to < report.ranks.size(); ++to)
    for (std::size_t from = 0; from < report.ranks[to].from.size(); ++from)
      if (const FromRankReport& of = report.ranks[to].from[from]; of.values() != 0)
        pairs.push_back({to, from, &of});
  std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.waited() > b.waited(); });
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i) {
    const auto& [to, from, of] = pairs[i];
    std::string causes;
    for (const auto& [what, traffic] : {std::pair("graphs", of->graphs), std::pair("flows", of->flows),
                                        std::pair("messages", of->messages)})
      if (traffic.copies != 0) causes += fmt::format("{}{}", causes.empty() ? "" : ", ", what);
    page.row(
        i == 0 ? "Waits" : "",
        fmt::format("{:>4} received {} in {} values from {} ({}), in flight for {:.3g} s{}", to,
                    moved_bytes(of->bytes()), with_commas(of->values()), from, causes, of->in_flight_seconds,
                    of->waited_seconds
                        ? fmt::format("; its workers had no task for {:.3g} s of it", *of->waited_seconds)
                        : ""));
  }
  if (pairs.size() > most) page.row("", fmt::format("and {} other pairs of ranks", pairs.size() - most));
  double waited = 0, all = 0;
  for (const RankReport& rank : report.ranks) {
    if (!rank.waited_seconds) return;
    waited += *rank.waited_seconds;
    all += rank.counted_seconds * rank.workers;
  }
  if (all > 0)
    page.row("The network",
             fmt::format("{} of the workers' time was without a task while values were in flight",
                         percent(waited, all)));
}

void ranks(TextPage& page, const RunReport& report) {
  if (report.ranks.empty()) return;
  page.blank();
  page.row("Ranks", fmt::format("{} as {}, {}; the rows about workers and memory are those of rank 0",
                                report.ranks.size(), report.grid, report.network));
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    const RankReport& rank = report.ranks[i];
    page.row("",
             fmt::format(
                 "{:>4}: {} tasks, busy for {:.3g} s; sent {} in {} values{}; {} of memory; disk {} read, {} "
                 "written",
                 i, with_commas(rank.tasks), rank.busy_seconds, moved_bytes(rank.payload_bytes),
                 with_commas(rank.payloads),
                 rank.payloads_into_devices == 0 ? std::string()
                                                 : fmt::format(", received {} in {} in its devices",
                                                               moved_bytes(rank.payload_bytes_into_devices),
                                                               with_commas(rank.payloads_into_devices)),
                 readable_size(rank.peak_memory_bytes), moved_bytes(rank.bytes_read),
                 moved_bytes(rank.bytes_written)));
  }
  if (!report.receive_memory.empty()) page.row("Values arrive", report.receive_memory);
  values_from_ranks(page, report);
}

}  // namespace

std::string text(const RunReport& report) {
  TextPage page;
  setting(page, report);
  speed(page, report);
  moved(page, report);
  links(page, report);
  memory_use(page, report);
  workers(page, report);
  ranks(page, report);
  return page.take();
}

}  // namespace fairlead::report
