// Writes log entries and trace records.
#include "engine/run_records.hpp"

#include <fairlead/codelet_info.hpp>

#include <algorithm>

namespace fairlead::engine {

RunRecords::RunRecords(const Topology& topology, const Options& options)
    : logs_(options.log),
      tracer_(options.trace_memory == 0
                  ? nullptr
                  : std::make_unique<trace::Tracer>(options.trace_memory, options.reporters)),
      estimate_(options.estimate) {
  if (options.log) processors_ = EventLog::processors_of(topology);
  for (const WorkerSpec& worker : topology.workers) kinds_.push_back(worker.kind);
}

void RunRecords::write(const Event& event) {
  if (event.kind == EventKind::task_ready) durations(static_cast<const Task&>(event));
  log_.event(event);
}

void RunRecords::submission(const Task& task) {
  if (!logs()) return;
  durations(task);
  log_.submission(task);
}

void RunRecords::durations(const Task& task) {
  if (!estimate_ || !task.by_worker()) return;
  std::vector<Duration> by_processor;
  for (std::size_t worker = 0; worker < processors_.size(); ++worker) {
    if (processors_[worker] != by_processor.size()) continue;  // this processor is recorded already
    const bool runs = (task.codelet->kinds >> static_cast<unsigned>(kinds_[worker]) & 1u) != 0;
    by_processor.push_back(runs ? estimate_(task, static_cast<WorkerId>(worker)) : Duration{});
  }
  log_.durations(by_processor);
}

void RunRecords::copy_over(const memory::Copy& copy, const memory::Routes& routes) {
  for (const RouteStep& leg : routes.of(copy).legs)
    tracer_->copy({.start = copy.at - copy.duration,
                   .duration = copy.duration,
                   .bytes = copy.bytes,
                   .datum = copy.datum,
                   .link = leg.link,
                   .from = copy.from->node,
                   .to = copy.to->node,
                   .cause = static_cast<std::uint8_t>(copy.cause.get()),
                   .away_from_home = leg.outward,
                   .failed = copy.kind == EventKind::copy_failed});
}

void RunRecords::memory_at(Time now, const memory::Memory& memory, std::span<const NodeInfo> caches) {
  for (const NodeInfo& info : caches) {
    const memory::MemoryNode& node = memory.node(info.id);
    trace::MemoryRecord record{.at = now,
                               .node = info.id,
                               .by_tasks = node.pinned_bytes,
                               .prefetched = node.prefetched_bytes,
                               .leaving = node.leaving_bytes};
    // Data prefetched from another device may leave by way of their home; they count as both then.
    const Bytes others = record.by_tasks + record.prefetched + record.leaving;
    record.cached = node.space->used_bytes() - std::min(others, node.space->used_bytes());
    tracer_->memory(record);
  }
}

void RunRecords::idle(WorkerId worker, const Pipelines::Idle& idle) {
  using enum trace::WaitRecord::For;
  tracer_->wait({idle.since, idle.duration, worker, idle.for_data ? data : tasks});
}

}  // namespace fairlead::engine
