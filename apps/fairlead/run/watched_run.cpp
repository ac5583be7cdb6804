// The progress display, and cancellation by a signal.
#include "fairlead/run/watched_run.hpp"

#include <fmt/format.h>

#include "algorithms/linalg/collectives.hpp"
#include "base/log.hpp"
#include "fairlead/subcommand.hpp"
#include "front/runtime/config_warnings.hpp"
#include "front/runtime/runtime_access.hpp"
#include "machine/machine.hpp"
#include "net/network.hpp"

namespace fairlead::app {

namespace {

std::size_t ranks_on_machine(const Rank& rank) {
  if (rank.network == nullptr) return 1;
  return rank.in_process() ? rank.count() : rank.network->sharing().ranks;
}

/// Prints warnings, before the run allocates resources. Returns `config`.
const Config& print_warnings_about(const Config& config, const Rank& rank) {
  for (const std::string& warning :
       front::config_warnings(config, machine::discover(), ranks_on_machine(rank)))
    fmt::print(stderr, "fairlead: warning: {}\n", warning);
  return config;
}

}  // namespace

WatchedRun::WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels, Front front,
                       const Rank& rank)
    : Execution(rank.number() == 0 ? print_warnings_about(config, rank) : config, reserved,
                std::move(kernels), front, rank),
      is_first_(rank.number() == 0) {
  if (is_first_ || !rank.in_process()) {
    interrupt_.emplace([this] { stop(); }, std::nullopt, [this] { log_message("\n{}", status()); });
    status_server_.emplace([this] { return status(); });
  }
  if (config.has("trace") || config.has("report")) traces_.emplace(runtime());
  style_ = report::progress_style(is_first_ ? config.text("progress") : "none", 2);
  start_progress();
}

/// Batch systems send SIGTERM before the end of a job's time.
void WatchedRun::stop() {
  if (Interrupt::signal() != SIGTERM || !runtime().stop_after_checkpoint()) cancel();
}

void WatchedRun::start_progress() {
  report::ProgressReporter::Options options;
  options.style = style_;
  options.snapshot = [this] { return progress(); };
  progress_.emplace(std::move(options));
}

void WatchedRun::print_line(const std::string& line) {
  if (!is_first_) return;
  progress_->abandon();
  progress_.reset();
  log_message("{}\n", line);
  start_progress();
}

std::string WatchedRun::status() const {
  const report::ProgressSnapshot now = progress();
  std::string text = fmt::format("fairlead: {}", now.phase.empty() ? "starting" : now.phase);
  if (now.tasks_total != 0) text += fmt::format(", {} of {} tasks finished", now.tasks_done, now.tasks_total);
  return text + "\n" + runtime().status();
}

WatchedRun::~WatchedRun() {
  try {
    if (progress_) progress_->abandon();
  } catch (const std::exception&) {
    // Out of memory: the line is not cleared.
  }
}

double WatchedRun::end_by(const std::function<void()>& last) {
  wait();
  Interrupt::finish(last);
  return record_phase("");
}

void WatchedRun::hand_over_to_first_rank() {
  if (runtime().ranks() == 1) return;
  if (!is_first_ && interrupt_) Interrupt::finish([] {});
  double unused[] = {0};
  try {
    linalg::allreduce_max(runtime(), unused);  // a barrier
  } catch (const Error&) {
    throw_if_cancelled();
    throw;
  }
}

void WatchedRun::remove_progress() { progress_.reset(); }

std::vector<trace::Snapshot> WatchedRun::collect_traces() {
  trace::Snapshot own = front::recorded_by(runtime());
  if (traces_) return traces_->collect(std::move(own));
  return {std::move(own)};
}

std::string WatchedRun::end_records() {
  try {
    runtime().end_records();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void WatchedRun::throw_if_cancelled() const {
  if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
}

}  // namespace fairlead::app
