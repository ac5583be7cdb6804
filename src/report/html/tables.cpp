// The report's tables as HTML: the content of run_report_text.cpp, with the same bounds.
#include <fmt/format.h>

#include <algorithm>

#include "config/value.hpp"
#include "report/html/html_table.hpp"
#include "report/html/parts.hpp"
#include "report/units.hpp"

namespace fairlead::report::html {

namespace {

using config::readable_size;
using memory::Cause;

std::string setting(const RunReport& report) {
  HtmlTable table("Setting", {"", ""});
  if (!report.of.empty()) table.row({"solved", report.of});
  if (!report.solution.empty()) table.row({"solution", report.solution});
  if (report.n != 0)
    table.row({"problem", fmt::format("{}, {}, {} x {} tiles of {}", size_text(report), report.element,
                                      with_commas(report.tile_rows()), with_commas(report.tiles),
                                      with_commas(report.tile))});
  table.row({"workers", fmt::format("{}", report.workers)});
  const auto known = [&table](const char* what, const std::string& value) {
    if (!value.empty()) table.row({what, value});
  };
  known("scheduler", scheduler_text(report));
  known("kernels", report.kernels);
  if (report.memory_limit_bytes != 0) table.row({"memory limit", readable_size(report.memory_limit_bytes)});
  known("spill file in", report.spill_directory.value_or(""));
  if (report.disk_cap_bytes_per_second)
    table.row({"disk capped at", moved_bytes(static_cast<Bytes>(*report.disk_cap_bytes_per_second)) + "/s"});
  return table.take();
}

std::string speed(const RunReport& report) {
  HtmlTable table("Time and speed", {"", "", ""});
  table.with_notes();
  table.row({"time", readable_seconds(report.seconds)});
  for (const bool counts : {true, false})
    for (const PhaseReport& phase : report.phases)
      if (phase.counts == counts)
        table.row({phase.name, readable_seconds(phase.seconds), counts ? "" : "not included"}, "part");
  if (report.ceiling) {
    table.row({"bound: computing", readable_seconds(report.ceiling->compute_seconds), "on all workers"},
              "bound");
    table.row({"bound: critical path", readable_seconds(report.ceiling->critical_path_seconds)}, "bound");
  }
  if (report.gflops > 0) table.row({"speed", fmt::format("{:.1f} GFlop/s", report.gflops)});
  if (report.gemm_peak_gflops)
    table.row({"GEMM peak", fmt::format("{:.1f} GFlop/s", *report.gemm_peak_gflops),
               fmt::format("{} reached; every worker multiplying tiles",
                           percent(report.gflops, *report.gemm_peak_gflops))},
              "bound");
  if (report.ceiling_gflops)
    table.row({"tiled ceiling", fmt::format("{:.1f} GFlop/s", *report.ceiling_gflops),
               fmt::format("{} reached; these kernels, a perfect schedule",
                           percent(report.gflops, *report.ceiling_gflops))},
              "bound");
  if (!report.method.empty())
    table.row({"method", report.method,
               report.method_reason.empty() ? "as requested" : "since " + report.method_reason});
  if (report.backward_error)
    table.row({"backward error", fmt::format("{:.2e}", *report.backward_error),
               report.refinement_steps
                   ? fmt::format("after {} step{} of refinement in double precision",
                                 *report.refinement_steps, *report.refinement_steps == 1 ? "" : "s")
                   : ""});
  if (report.growth)
    table.row(
        {"growth", fmt::format("{:.3g}", *report.growth), "the largest element of U divided by that of A"});
  if (const auto& rank = report.numerical_rank)
    table.row({"rank", fmt::format("{} of {}", rank->rank, rank->columns), text_of(*rank)});
  if (report.residual)
    table.row({"residual", fmt::format("{:.3g}", report.residual->relative),
               text_of(*report.residual, is_rank_reduced(report))});
  if (const auto& condition = report.condition) {
    table.row({"condition", fmt::format("{:.1e}", condition->number),
               fmt::format("in the {}, {}", condition->norm(),
                           condition->is_exact ? "from the singular values" : "estimated")});
    table.row({"forward error", fmt::format("{:.1e}", condition->forward_error),
               fmt::format("at most{}, which leaves {} digit{}",
                           condition->columns > 1 ? ", in each column of x" : "", condition->digits,
                           condition->digits == 1 ? "" : "s")});
  }
  table.row({"tasks", with_commas(report.tasks)});
  table.row({"evictions", with_commas(report.evictions)});
  if (report.generated.copies != 0)
    table.row({"generated tiles", with_commas(report.generated.copies),
               moved_bytes(report.generated.bytes) + ", not read"});
  return table.take();
}

std::string kernels(const RunReport& report) {
  HtmlTable table("Kernels", {"", "calls", "of the operations"});
  double gflop = 0;
  for (const KernelReport& kernel : report.kernel_calls) gflop += kernel.gflop;
  for (const KernelReport& kernel : report.kernel_calls)
    table.row({kernel.name, with_commas(kernel.calls), percent(kernel.gflop, gflop)});
  return table.take();
}

std::string moved(const RunReport& report) {
  const Bytes both = report.bytes_read + report.bytes_written;
  if (both == 0) return {};
  HtmlTable table("Disk", {"", "read", "written", "both", ""});
  table.with_notes();
  table.row(
      {"measured", moved_bytes(report.bytes_read), moved_bytes(report.bytes_written), moved_bytes(both)});
  if (report.kernel_bytes_read && report.kernel_bytes_written)
    table.row({"by the kernel's count", moved_bytes(*report.kernel_bytes_read),
               moved_bytes(*report.kernel_bytes_written),
               moved_bytes(*report.kernel_bytes_read + *report.kernel_bytes_written)});
  if (report.io_bounds() == nullptr) return table.take();
  const IoBounds& bounds = *report.io_bounds();
  table.row({"floor", moved_bytes(bounds.floor_read()), moved_bytes(bounds.results),
             moved_bytes(bounds.floor()), bounds.fits ? "all fits: each once" : "bound + each byte once"},
            "bound");
  table.row({"measured / floor", ratio(report.bytes_read, bounds.floor_read()),
             ratio(report.bytes_written, bounds.results), ratio(both, bounds.floor())});
  table.row({"lower bound", moved_bytes(bounds.lower_bound()), "", "",
             bounds.lower_bound() > bounds.inputs ? "proved, leading term" : "each input once"},
            "bound");
  table.row({"measured / bound", ratio(report.bytes_read, bounds.lower_bound())});
  return table.take();
}

std::string links(const RunReport& report) {
  std::vector<std::string> heads{"", ""};
  for (std::size_t cause = 0; cause < memory::cause_count; ++cause)
    heads.emplace_back(name_of(static_cast<Cause>(cause)));
  heads.emplace_back("copies");
  HtmlTable table("Links", heads);
  const auto row = [&table](const std::string& name, const char* direction, const auto& traffic) {
    std::vector<std::string> cells{name, direction};
    std::uint64_t copies = 0;
    for (const TransferTotals& one : traffic) {
      cells.push_back(one.copies == 0 && one.bytes == 0 ? "-" : moved_bytes(one.bytes));
      copies += one.copies;
    }
    cells.push_back(with_commas(copies));
    table.row(std::move(cells));
  };
  const auto copies = [](const auto& traffic) {
    return std::ranges::any_of(traffic, [](const TransferTotals& one) { return one.copies != 0; });
  };
  for (const LinkReport& link : report.links) {
    if (!copies(link.from_home) && !copies(link.to_home)) continue;
    row(link.name, "from home", link.from_home);
    row("", "to home", link.to_home);
  }
  return table.take();
}

std::string memory_use(const RunReport& report) {
  HtmlTable table("Memory", {"", "peak", "of", "", ""});
  table.with_notes();
  const auto row = [&table](const std::string& what, Bytes peak, std::optional<Bytes> of, const char* note) {
    table.row({what, readable_size(peak), of ? readable_size(*of) : "",
               of ? percent(static_cast<double>(peak), static_cast<double>(*of)) : "", note});
  };
  for (const NodeReport& node : report.nodes) row(node.name, node.peak, node.capacity, "");
  if (report.memory_limit_bytes != 0)
    row("under the limit", report.peak_memory_bytes, report.memory_limit_bytes, "measured by Fairlead");
  if (const auto outside = report.unaccounted_bytes())
    row(report.memory_limit_bytes != 0 ? "outside it" : "outside these", *outside, {},
        "the rest of the process");
  if (report.resident_parts) {
    row("code, libraries", report.resident_parts->files, {}, "of that");
    row("from malloc", report.resident_parts->heap, {}, "of that, at the end");
  }
  if (report.peak_resident_bytes) row("process", *report.peak_resident_bytes, {}, "measured by the kernel");
  return table.take();
}

std::string workers(const RunReport& report, const trace::Snapshot& recorded) {
  HtmlTable table(
      "Workers", {"", "computed", "", "waiting for data", "", "without a task", "", "CPU time", "", "tasks"});
  for (std::size_t i = 0; i < report.worker_times.size(); ++i) {
    const WorkerReport& worker = report.worker_times[i];
    const double all = worker.all();
    std::vector<std::string> cells{i < recorded.workers.size() ? recorded.workers[i]
                                                               : fmt::format("worker {}", i)};
    for (const double part :
         {worker.busy_seconds, worker.waiting_for_data_seconds, worker.waiting_for_tasks_seconds}) {
      cells.push_back(readable_seconds(part));
      cells.push_back(percent(part, all));
    }
    cells.push_back(worker.on_core_seconds ? readable_seconds(*worker.on_core_seconds) : "");
    cells.push_back(worker.on_core_seconds ? percent(*worker.on_core_seconds, all) : "");
    cells.push_back(with_commas(worker.tasks));
    table.row(std::move(cells));
  }
  return table.take();
}

/// The durations of each kind of task, from the trace records.
std::string codelets(const trace::Snapshot& recorded) {
  std::vector<std::vector<double>> seconds_of(recorded.codelets.size());
  double all = 0;
  std::size_t shared = 0;
  for (const trace::TaskRecord& task : recorded.tasks) {
    shared += task.shares_time();
    seconds_of[task.codelet].push_back(seconds(task.duration()));
    all += seconds(task.duration());
  }
  HtmlTable table("Kinds of task", {"", "tasks", "time in all", "", "median", "slowest of 100", "slowest"});
  for (std::size_t i = 0; i < seconds_of.size(); ++i) {
    auto& times = seconds_of[i];
    if (times.empty()) continue;
    std::ranges::sort(times);
    double sum = 0;
    for (const double time : times) sum += time;
    table.row({recorded.codelets[i], with_commas(times.size()), readable_seconds(sum), percent(sum, all),
               readable_seconds(times[times.size() / 2]), readable_seconds(times[times.size() * 99 / 100]),
               readable_seconds(times.back())});
  }
  if (shared != 0)
    table.remark("Tasks too short to be timed each: " + with_commas(shared) +
                 ". As many as ran in a row, up to 16, share the time of all evenly.");
  return table.take();
}

}  // namespace

std::string tables(const RunReport& report, const trace::Snapshot& recorded) {
  return "<div class=\"tables\">\n" + speed(report) + moved(report) + links(report) + memory_use(report) +
         workers(report, recorded) + codelets(recorded) + kernels(report) + setting(report) + "</div>\n";
}

}  // namespace fairlead::report::html
