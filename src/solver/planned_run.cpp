// See planned_run.hpp.
#include "solver/planned_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>

#include "front/runtime/virtual_time.hpp"
#include "solver/solve_steps.hpp"

namespace fairlead::solver {

namespace {

class PlannedRun final : public Execution {
 public:
  PlannedRun(const Config& config, Bytes reserved, const linalg::Kernels& kernels,
             const std::shared_ptr<TaskTimes>& times, std::string unsuitable)
      : Execution(config, reserved, kernels, {std::make_shared<const front::VirtualTimeBackend>(times)}),
        unsuitable_(std::move(unsuitable)) {}

  bool computes() const noexcept override { return false; }
  void reached(Milestone milestone) override {
    at_[static_cast<std::size_t>(milestone)] = traffic();
    if (milestone == Milestone::tiled && !unsuitable_.empty())
      throw NumericalError(std::exchange(unsuitable_, {}));
  }

  void count(PlannedOutcome& outcome) {
    const SpillTraffic all = traffic(), &before = at_[0], &solved = at_[2];
    outcome.until_solved = {solved.read - before.read, solved.written - before.written};
    outcome.of_checks = {all.read - solved.read, all.written - solved.written};
    for (const report::PhaseReport& phase : phases()) {
      outcome.phases.push_back({phase.name, phase.seconds, phase.counts});
      outcome.seconds += phase.seconds;
    }
    const Statistics statistics = runtime().statistics();
    outcome.disk_busy_seconds = seconds_of(disk(statistics).busy);
    double waiting = 0;
    for (const Statistics::Worker& worker : statistics.workers)
      waiting += seconds_of(worker.waiting_for_data);
    const double whole = outcome.seconds * static_cast<double>(statistics.workers.size());
    outcome.waiting_for_data = whole > 0 ? std::min(1.0, waiting / whole) : 0;
  }

 private:
  static double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  }
  static Statistics::Link disk(const Statistics& statistics) {
    const auto found = std::ranges::find(statistics.links, "disk", &Statistics::Link::home);
    return found == statistics.links.end() ? Statistics::Link{} : *found;
  }
  SpillTraffic traffic() {
    const Statistics::Link link = disk(runtime().statistics());
    return {link.bytes_from_home(), link.bytes_to_home()};
  }

  std::string unsuitable_;
  std::array<SpillTraffic, 3> at_{};  // by Milestone
};

}  // namespace

template <class T>
PlannedOutcome simulate_solve(const LinearSystem& system, const SolveOptions& options, const Config& config,
                              const linalg::Kernels& kernels, const std::shared_ptr<TaskTimes>& times,
                              const std::string& unsuitable) {
  SolveSteps<T> steps(system, options, config, kernels, {});
  PlannedRun run(config, steps.reserved(), kernels, times, unsuitable);
  const SolveResult result = steps.run(run);
  PlannedOutcome outcome{.method = result.problem.operation, .method_reason = result.method_reason};
  run.count(outcome);
  return outcome;
}

PlannedOutcome extrapolated(const PlannedOutcome& near, const PlannedOutcome& far, double times) {
  const double halvings = std::log2(times);
  const auto at = [&](double close, double distant) {
    const double ratio = distant > 0 && close > 0 ? close / distant : 4;  // as a matrix
    return close * std::pow(ratio, halvings);
  };
  const auto bytes = [&](Bytes close, Bytes distant) {
    return static_cast<Bytes>(at(static_cast<double>(close), static_cast<double>(distant)));
  };
  const auto traffic = [&](const SpillTraffic& close, const SpillTraffic& distant) {
    return SpillTraffic{bytes(close.read, distant.read), bytes(close.written, distant.written)};
  };
  PlannedOutcome outcome = near;
  outcome.until_solved = traffic(near.until_solved, far.until_solved);
  outcome.of_checks = traffic(near.of_checks, far.of_checks);
  outcome.disk_busy_seconds = at(near.disk_busy_seconds, far.disk_busy_seconds);
  outcome.seconds = 0;
  for (std::size_t i = 0; i < outcome.phases.size(); ++i) {
    double& time = outcome.phases[i].seconds;
    time = at(time, i < far.phases.size() ? far.phases[i].seconds : 0);
    outcome.seconds += time;
  }
  return outcome;
}

#define FAIRLEAD_SIMULATE_SOLVE_OF(T)                                                                  \
  template PlannedOutcome simulate_solve<T>(const LinearSystem&, const SolveOptions&, const Config&,   \
                                            const linalg::Kernels&, const std::shared_ptr<TaskTimes>&, \
                                            const std::string&);
FAIRLEAD_SIMULATE_SOLVE_OF(float)
FAIRLEAD_SIMULATE_SOLVE_OF(double)
FAIRLEAD_SIMULATE_SOLVE_OF(std::complex<float>)
FAIRLEAD_SIMULATE_SOLVE_OF(std::complex<double>)
#undef FAIRLEAD_SIMULATE_SOLVE_OF

}  // namespace fairlead::solver
