// Phases with their times, graphs, cancellation.
#include "solver/execution.hpp"

#include <fairlead/parameterized_linalg.hpp>

#include <utility>

#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"

namespace fairlead::solver {

Execution::Execution(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front,
                     const Rank& rank)
    : kernels_(std::move(kernels)),
      runtime_(config, rank, reserved),
      flow_(std::in_place, runtime_),
      front_(front) {
  show_live();
}
Execution::Execution(const Config& config, Bytes reserved, linalg::Kernels kernels,
                     const backend::Backends& backends)
    : kernels_(std::move(kernels)),
      runtime_(config, reserved, backends),
      flow_(std::in_place, runtime_),
      front_(Front::flow) {
  show_live();
}
Execution::~Execution() {
  try {
    front::show_live_progress(runtime_, {});
  } catch (const std::exception&) {
    // No memory for the last progress.
  }
}

void Execution::show_live() {
  front::show_live_progress(runtime_, [this] {
    const report::ProgressSnapshot now = progress();
    return front::LiveProgress{.phase = std::string(now.phase),
                               .tasks_done = now.tasks_done,
                               .tasks_total = now.tasks_total,
                               .flops_done = now.flops_done,
                               .flops_total = now.flops_total};
  });
}

void Execution::begin(std::string_view name, std::uint64_t tasks, double flops) {
  throw_if_cancelled();
  {
    const std::lock_guard guard(mutex_);
    const std::uint32_t ranks = runtime_.ranks();  // each rank runs a share of the tasks
    current_ = {name, flow_->submitted(), tasks / ranks, 0, kernels_.flops_done(), flops / ranks};
  }
  in_phase_ = true;
  phase_start_ = front::core_of(runtime_).world().now();
}

void Execution::cancel_flow() {
  const std::lock_guard guard(mutex_);
  flow_->cancel();
}

void Execution::renew_flow() {
  const std::lock_guard guard(mutex_);
  flow_.emplace(runtime_);
}

void Execution::cancel() {
  cancel_flow();
  {
    const std::lock_guard guard(mutex_);
    if (graph_ != nullptr) graph_->abandon();  // a cancelled run writes no results
  }
  runtime_.wind_down();
}

void Execution::run(ptg::Graph& graph) {
  struct Watched {
    Watched(Execution& by, ptg::Graph& graph) : run(by) {
      const std::lock_guard guard(run.mutex_);
      run.graph_ = &graph;
    }
    ~Watched() {
      const std::lock_guard guard(run.mutex_);
      run.current_.tasks_of_graphs += run.graph_->done();
      run.graph_ = nullptr;
    }
    Execution& run;
  };
  graph.abandon_on_failure();
  const Watched watched(*this, graph);
  try {
    throw_if_cancelled();  // a request before `graph_` was set did not cancel the graph
    linalg::run_for_results(graph);
  } catch (const Error&) {
    throw_if_cancelled();
    throw;
  }
}

void Execution::wait() { wait_for_tasks(false); }

void Execution::wait_for_tasks(bool flushed) {
  try {
    linalg::wait_for_results(*flow_);
    throw_if_cancelled();
    if (flushed) runtime_.flush();
  } catch (const CheckpointStop&) {
    throw;  // the reaction to the signal
  } catch (const Error&) {
    throw_if_cancelled();
    throw;
  }
}

double Execution::end(bool flushed) {
  wait_for_tasks(flushed);
  return record_phase("");
}

double Execution::end_uncounted(bool flushed) {
  const double seconds = end(flushed);
  phases_.back().counts = false;
  return seconds;
}

double Execution::give_up() { return in_phase_ ? record_phase(" (given up)") : 0; }

double Execution::record_phase(std::string_view how) {
  in_phase_ = false;
  const std::string name = std::string(current_.name).append(how);
  const Time now = front::core_of(runtime_).world().now();
  if (trace::Tracer* tracer = front::core_of(runtime_).engine().journal().tracer())
    tracer->phase({name, phase_start_, now});
  phases_.push_back({name, seconds(now - phase_start_)});
  return phases_.back().seconds;
}

void Execution::warn(const std::string& text) {
  warnings_.push_back(text);
  show_warning(text);
}

report::ProgressSnapshot Execution::progress() const {
  const Runtime::Traffic traffic = runtime_.disk_traffic();
  const std::lock_guard guard(mutex_);
  report::ProgressSnapshot now{.bytes_read = traffic.read, .bytes_written = traffic.written};
  now.phase = current_.name;
  now.tasks_done = flow_->done() - current_.tasks_before + current_.tasks_of_graphs;
  if (graph_ != nullptr) now.tasks_done += graph_->done();
  now.tasks_total = current_.tasks;
  now.flops_done = kernels_.flops_done() - current_.flops_before;
  now.flops_total = current_.flops;
  return now;
}

std::string_view name_of(Front front) noexcept {
  return front == Front::jdf ? "jdf" : front == Front::flow ? "flow" : "ptg";
}

}  // namespace fairlead::solver
