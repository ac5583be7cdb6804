// Phases, the display and the end on request.
#include "fairlead/watched_run.hpp"

#include <chrono>

#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

WatchedRun::WatchedRun(const Config& config, Bytes reserved, linalg::Kernels kernels)
    : kernels_(std::move(kernels)), runtime_(config, reserved), flow_(runtime_), interrupt_([this] {
        flow_.cancel();
        runtime_.wind_down();
      }) {
  Progress::Options options;
  options.style = progress_style(config.text("progress"), 2);
  options.snapshot = [this] { return snapshot(); };
  progress_.emplace(std::move(options));
}

void WatchedRun::begin(std::string_view name, std::uint64_t tasks, double flops) {
  throw_if_interrupted();
  {
    const std::lock_guard guard(mutex_);
    current_ = {name, flow_.submitted(), tasks, kernels_.flops_done(), flops};
  }
  began_ = steady_seconds();
}

WatchedRun::~WatchedRun() {
  if (progress_) progress_->abandon();
}

double WatchedRun::end(bool flushed) {
  try {
    linalg::wait_for_results(flow_);
    throw_if_interrupted();
    if (flushed) runtime_.flush();
  } catch (const Error&) {
    throw_if_interrupted();  // that tasks were cancelled is then no news
    throw;
  }
  const double seconds = steady_seconds() - began_;
  phases_.push_back({std::string(current_.name), seconds});
  return seconds;
}

void WatchedRun::stop_showing() { progress_.reset(); }

void WatchedRun::throw_if_interrupted() const {
  if (const int signal = Interrupt::signal(); signal != 0) throw Interrupted{signal};
}

ProgressSnapshot WatchedRun::snapshot() const {
  const std::lock_guard guard(mutex_);
  const Runtime::Traffic traffic = runtime_.disk_traffic();
  ProgressSnapshot now;
  now.phase = current_.name;
  now.tasks_done = flow_.done() - current_.tasks_before;
  now.tasks_total = current_.tasks;
  now.flops_done = kernels_.flops_done() - current_.flops_before;
  now.flops_total = current_.flops;
  now.bytes_read = traffic.read;
  now.bytes_written = traffic.written;
  return now;
}

}  // namespace fairlead::app
