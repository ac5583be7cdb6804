// Phases of the run, the progress display, and cancellation by a signal.
#include "fairlead/run/watched_run.hpp"

#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <chrono>

#include "algorithms/linalg/collectives.hpp"
#include "base/log.hpp"
#include "engine/runtime_core.hpp"
#include "fairlead/problem/doubts.hpp"
#include "fairlead/subcommand.hpp"
#include "front/runtime/runtime_access.hpp"
#include "machine/machine.hpp"
#include "net/network.hpp"

namespace fairlead::app {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t ranks_on_machine(const Rank& rank) {
  if (rank.network == nullptr) return 1;
  return rank.in_process() ? rank.count() : rank.network->sharing().ranks;
}

/// Prints warnings, before the run allocates resources. Returns `config`.
const Config& print_warnings_about(const Config& config, const Rank& rank) {
  for (const std::string& warning : config_warnings(config, machine::discover(), ranks_on_machine(rank)))
    fmt::print(stderr, "fairlead: warning: {}\n", warning);
  return config;
}

}  // namespace

WatchedRun::WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front,
                       const Rank& rank)
    : kernels_(std::move(kernels)),
      runtime_(rank.number() == 0 ? print_warnings_about(config, rank) : config, rank, reserved),
      flow_(runtime_),
      front_(front),
      is_first_(rank.number() == 0) {
  if (is_first_ || !rank.in_process()) {
    interrupt_.emplace([this] { cancel(); }, std::nullopt, [this] { log_message("\n{}", status()); });
    status_server_.emplace([this] { return status(); });
  }
  if (config.has("trace") || config.has("report")) traces_.emplace(runtime_);
  style_ = progress_style(is_first_ ? config.text("progress") : "none", 2);
  start_progress();
}

void WatchedRun::start_progress() {
  ProgressReporter::Options options;
  options.style = style_;
  options.snapshot = [this] { return snapshot(); };
  progress_.emplace(std::move(options));
}

void WatchedRun::print_line(const std::string& line) {
  if (!is_first_) return;
  progress_->abandon();
  progress_.reset();
  log_message("{}\n", line);
  start_progress();
}

void WatchedRun::begin(std::string_view name, std::uint64_t tasks, double flops) {
  throw_if_interrupted();
  {
    const std::lock_guard guard(mutex_);
    const std::uint32_t ranks = runtime_.ranks();  // each rank runs a share of the tasks
    current_ = {name, flow_.submitted(), tasks / ranks, 0, kernels_.flops_done(), flops / ranks};
  }
  in_phase_ = true;
  phase_start_seconds_ = steady_seconds();
  phase_start_time_ = front::core_of(runtime_).world().now();
}

/// Called by the signal-watching thread.
void WatchedRun::cancel() {
  flow_.cancel();
  {
    const std::lock_guard guard(mutex_);
    if (graph_ != nullptr) graph_->abandon();  // a cancelled run writes no results
  }
  runtime_.wind_down();
}

void WatchedRun::run(ptg::Graph& graph) {
  struct Watched {
    explicit Watched(WatchedRun& by, ptg::Graph& graph) : run(by) {
      const std::lock_guard guard(run.mutex_);
      run.graph_ = &graph;
    }
    ~Watched() {
      const std::lock_guard guard(run.mutex_);
      run.current_.tasks_of_graphs += run.graph_->done();
      run.graph_ = nullptr;
    }
    WatchedRun& run;
  };
  graph.abandon_on_failure();
  const Watched watched(*this, graph);
  try {
    throw_if_interrupted();  // a signal before `graph_` was set did not cancel the graph
    linalg::run_for_results(graph);
  } catch (const Error&) {
    throw_if_interrupted();
    throw;
  }
}

std::string WatchedRun::status() const {
  const ProgressSnapshot now = snapshot();
  std::string text = fmt::format("fairlead: {}", now.phase.empty() ? "starting" : now.phase);
  if (now.tasks_total != 0) text += fmt::format(", {} of {} tasks finished", now.tasks_done, now.tasks_total);
  return text + "\n" + runtime_.status();
}

WatchedRun::~WatchedRun() {
  try {
    if (progress_) progress_->abandon();
  } catch (const std::exception&) {
    // Out of memory: the line is not cleared.
  }
}

void WatchedRun::wait() { wait(false); }

void WatchedRun::wait(bool flushed) {
  try {
    linalg::wait_for_results(flow_);
    throw_if_interrupted();
    if (flushed) runtime_.flush();
  } catch (const Error&) {
    throw_if_interrupted();  // an error about cancelled tasks would be redundant
    throw;
  }
}

double WatchedRun::end(bool flushed) {
  wait(flushed);
  return record_phase("");
}

double WatchedRun::end_by(const std::function<void()>& last) {
  wait(false);
  Interrupt::finish(last);
  return record_phase("");
}

void WatchedRun::hand_over_to_first_rank() {
  if (runtime_.ranks() == 1) return;
  if (!is_first_ && interrupt_) Interrupt::finish([] {});
  double unused[] = {0};
  try {
    linalg::allreduce_max(runtime_, unused);  // a barrier
  } catch (const Error&) {
    throw_if_interrupted();
    throw;
  }
}

double WatchedRun::give_up() { return in_phase_ ? record_phase(" (given up)") : 0; }

double WatchedRun::record_phase(std::string_view how) {
  in_phase_ = false;
  const std::string name = std::string(current_.name).append(how);
  const double seconds = steady_seconds() - phase_start_seconds_;
  if (trace::Tracer* tracer = front::core_of(runtime_).engine().journal().tracer())
    tracer->phase({name, phase_start_time_, front::core_of(runtime_).world().now()});
  phases_.push_back({name, seconds});
  return seconds;
}

double WatchedRun::end_uncounted(bool flushed) {
  const double seconds = end(flushed);
  phases_.back().counts = false;
  return seconds;
}

void WatchedRun::remove_progress() { progress_.reset(); }

std::vector<trace::Snapshot> WatchedRun::collect_traces() {
  trace::Snapshot own = front::recorded_by(runtime_);
  if (traces_) return traces_->collect(std::move(own));
  return {std::move(own)};
}

std::string WatchedRun::end_records() {
  try {
    runtime_.end_records();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void WatchedRun::throw_if_interrupted() const {
  if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
}

ProgressSnapshot WatchedRun::snapshot() const {
  const std::lock_guard guard(mutex_);
  const Runtime::Traffic traffic = runtime_.disk_traffic();
  ProgressSnapshot now;
  now.phase = current_.name;
  now.tasks_done = flow_.done() - current_.tasks_before + current_.tasks_of_graphs;
  if (graph_ != nullptr) now.tasks_done += graph_->done();
  now.tasks_total = current_.tasks;
  now.flops_done = kernels_.flops_done() - current_.flops_before;
  now.flops_total = current_.flops;
  now.bytes_read = traffic.read;
  now.bytes_written = traffic.written;
  return now;
}

}  // namespace fairlead::app
