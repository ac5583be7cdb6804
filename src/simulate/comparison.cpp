// Converts simulated runs to the comparison page of reports.
#include "simulate/comparison.hpp"

#include <fairlead/version.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "simulate/task_order.hpp"

namespace fairlead::simulate {

namespace {

std::vector<report::KernelReport> kernels_of(const Program& program) {
  std::vector<report::KernelReport> kernels;
  for (const std::string& name : program.kernels) kernels.push_back({name, 0, 0});
  for (const ProgramTask& task : program.tasks) {
    report::KernelReport& kernel = kernels[static_cast<std::size_t>(task.kernel)];
    ++kernel.calls;
    kernel.gflop += static_cast<double>(task.flops) * 1e-9;
  }
  return kernels;
}

std::string machine_line(const SimulatedMachine& machine) {
  std::string line = fmt::format("simulated {}", machine.description().name);
  if (machine.devices() > 0)
    line += fmt::format(", {} device{}", machine.devices(), machine.devices() == 1 ? "" : "s");
  return fmt::format("{}: {}", line, machine.description().summary);
}

/// The report of a run without its results.
report::RunReport setting_of(const Program& program, const SimulatedMachine& machine, const Limits& limits,
                             const WorkloadSize& size, const std::string& workload,
                             const std::string& scheduler) {
  report::RunReport report;
  report.operation = fmt::format("{}, simulated", workload);
  report.version = version();
  report.date =
      fmt::format("{:%Y-%m-%d %H:%M} UTC",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  report.machine = machine_line(machine);
  report.n = static_cast<std::uint64_t>(size.n);
  report.element = size.precision == Precision::double_ ? "FP64" : "FP32";
  report.tile = static_cast<std::uint64_t>(size.tile);
  report.tiles = static_cast<std::uint64_t>(program.tiles);
  report.workers = static_cast<unsigned>(machine.topology().workers.size());
  report.scheduler = scheduler;
  report.kernels = fmt::format("rates of {}, in virtual time", machine.description().name);
  report.ceiling = report::Ceiling{.compute_seconds = limits.time.compute,
                                   .critical_path_seconds = limits.time.critical_path};
  if (limits.flops > 0) report.ceiling_gflops = limits.flops / report.ceiling->seconds() * 1e-9;
  return report;
}

std::vector<report::WorkerTimeline> timelines_of(const Program& program, const SimulatedMachine& machine,
                                                 const SimulationResult& result) {
  if (result.order.empty()) return {};
  const Topology& topology = machine.topology();
  std::vector<report::WorkerTimeline> all(topology.workers.size());
  std::vector<std::size_t> on_node(topology.nodes.size()), seen(topology.nodes.size());
  for (const WorkerSpec& worker : topology.workers) ++on_node[index(worker.node)];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NodeId node = topology.workers[i].node;
    all[i].worker = topology.has_kind(node, MemoryKind::host) ? "core" : topology.nodes[index(node)].name;
    if (on_node[index(node)] > 1) all[i].worker += fmt::format(" {}", seen[index(node)]++);
  }
  for (const TaskRun& run : result.order)
    all[index(run.worker)].spans.push_back(
        {seconds(run.start), seconds(run.end), static_cast<std::uint16_t>(program.tasks[run.task].kernel)});
  return all;
}

}  // namespace

report::Comparison comparison_of(const Program& program, const SimulatedMachine& machine,
                                 const Limits& limits) {
  report::Comparison all;
  all.compute_seconds = limits.time.compute;
  all.critical_path_seconds = limits.time.critical_path;
  all.gflops_at_best = limits.gflops_at_best();
  all.bounded_total = machine.devices() > 0 ? "devices" : "disk";
  all.bus_limit_bytes = static_cast<Bytes>(limits.bus_limit_bytes);
  all.io = limits.io;
  all.order = task_places(program, machine);
  all.kinds = program.kernels;
  return all;
}

void add_run(report::Comparison& to, const Program& program, const SimulatedMachine& machine,
             const Limits& limits, const WorkloadSize& size, const std::string& workload,
             const RunOutcome& outcome) {
  report::ComparedRun& run = to.runs.emplace_back();
  run.report = setting_of(program, machine, limits, size, workload, outcome.scheduler);
  run.problem = outcome.problem;
  if (!run.problem.empty()) return;
  const SimulationResult& result = outcome.result;
  report::RunReport& report = run.report;
  report.seconds = result.seconds;
  report.gflops = gflops(outcome, limits);
  report.tasks = result.tasks;
  report.evictions = result.evictions;
  report.kernel_calls = kernels_of(program);
  report.bytes_read = result.bytes_from_disk;
  report.bytes_written = result.bytes_to_disk;
  if (machine.devices() == 0) report.bounds = limits.io;
  report.links = result.links;
  report.nodes = result.nodes;
  report.worker_times = result.workers;
  report.counted_seconds = result.seconds;
  fill_up_times(report.worker_times, result.seconds);
  report.limiting = limiting(measured(report.worker_times, result.seconds, result.links));
  run.totals = result.totals;
  run.decision_nanoseconds = decision_nanoseconds(outcome);
  run.timelines = timelines_of(program, machine, result);
  add_order(to.order, machine, outcome.scheduler, result);
}

}  // namespace fairlead::simulate
