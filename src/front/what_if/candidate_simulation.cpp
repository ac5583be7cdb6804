// One what-if simulation: a separate runtime into which the tasks are submitted again.
#include "front/what_if/candidate_simulation.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "base/guarded_thread.hpp"
#include "engine/runtime_core.hpp"
#include "front/flow/flow_source.hpp"
#include "front/what_if/resuming_policy.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {

namespace {

class CandidateSimulation {
 public:
  CandidateSimulation(const SimulationInput& script, const std::atomic<bool>& stops, std::string_view policy,
                      Duration enough, const std::atomic<Duration>& patience)
      : script_(script),
        stops_(stops),
        work_limit_(enough),
        time_limit_(patience),
        world_(sim_options()),
        core_(core_options(policy), world_),
        data_(script.data().size()) {
    Bytes end_of_data = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const SimulationInput::SimulatedDatumRecord& datum = script.data()[i];
      core_.register_datum(data_[i], {.bytes = datum.bytes,
                                      .home = datum.home,
                                      .home_offset = end_of_data,
                                      .coordinates = datum.coordinates});
      if (datum.advice != no_device) core_.advise(data_[i], datum.advice);
      data_[i].ever_written = true;
      end_of_data += datum.bytes;
      core_.engine().locked([&](memory::Memory& memory) {
        for (std::uint32_t left = datum.valid_nodes; left != 0; left &= left - 1)
          memory.place(data_[i].id, static_cast<NodeId>(std::countr_zero(left)), datum.modified);
      });
    }
  }

  SimulationOutcome run() {
    FlowSource flow(core_);
    for (std::size_t i = 0; i < script_.tasks().size() && !stops_.load(std::memory_order_relaxed); ++i)
      submit(flow, i);
    if (!script_.more_follow()) core_.engine().all_submitted();
    core_.engine().horizon_closed();
    world_.after(Duration{}, [this] { tell_over_(all_submitted_); });
    core_.wait([this] { return over() || stop_condition_met_; });
    if (!over()) {
      const Duration then = world_.now();
      const bool found = done_ >= work_limit_ && then <= time_limit_.load(std::memory_order_relaxed);
      flow.cancel();
      flow.finish();
      return {found ? then : Duration::max(), quarters_, bytes_moved()};
    }
    flow.wait();
    if (writes_back_results()) core_.home_values().flush();
    return {world_.now(), quarters_, bytes_moved()};
  }
  std::size_t tasks() const noexcept { return tasks_; }

 private:
  bool over() const noexcept { return tasks_ == script_.tasks().size(); }
  /// Data with a home on disk are not written back when a program waits; data with another home are.
  bool writes_back_results() const {
    return std::ranges::any_of(script_.data(), [&](const SimulationInput::SimulatedDatumRecord& datum) {
      return script_.topology().nodes[index(datum.home)].memory != MemoryKind::store;
    });
  }
  Bytes bytes_moved() {
    Bytes sum = 0;
    core_.engine().locked([&](memory::Memory& memory) {
      for (const memory::LinkTraffic& link : memory.transfers().traffic())
        sum += memory::LinkTraffic::bytes(link.from_home) + memory::LinkTraffic::bytes(link.to_home);
    });
    return sum;
  }
  /// A task's source line is its index in the script.
  Duration estimate(const Task& task, WorkerId worker) const {
    return script_.estimate(task.submitted_at.line, worker);
  }

  backend::SimOptions sim_options() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.on_end = [this](Task& task, WorkerId, bool) {
      ++tasks_;
      done_ += script_.tasks()[task.submitted_at.line].shortest_duration;
      for (;
           quarter_ < quarters_.size() && 4 * done_ >= static_cast<std::int64_t>(quarter_ + 1) * work_limit_;
           ++quarter_)
        quarters_[quarter_] = world_.now();
      stop_condition_met_ = stop_condition_met_ || done_ >= work_limit_ ||
                            world_.now() > time_limit_.load(std::memory_order_relaxed) ||
                            stops_.load(std::memory_order_relaxed);
    };
    return options;
  }
  engine::CoreOptions core_options(std::string_view policy) {
    engine::CoreOptions options;
    options.topology = script_.topology();
    options.policy = std::make_unique<ResumingPolicy>(
        schedule::make_policy(policy),
        [this](const Task& task) { return script_.tasks()[task.submitted_at.line].assigned_node; });
    options.engine.policy_name = policy;
    options.engine.what_if_simulation = [this](const memory::Memory&, const View&,
                                               engine::Options::TellOver tell) {
      tell_over_ = std::move(tell);
      return std::make_unique<SubmissionPhase>();
    };
    options.engine.estimate = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.refresh = false;
    options.window = script_.tasks().size() + 1;  // so the submission of the last task does not wait either
    return options;
  }

  void submit(FlowSource& flow, std::size_t number) {
    const SimulationInput::SimulatedTaskRecord& line = script_.tasks()[number];
    uses_.clear();
    for (const SimulationInput::Use& use : script_.uses_of(line))
      uses_.push_back({&data_[use.datum], use.mode});
    flow.submit({.codelet = line.codelet,
                 .uses = uses_,
                 .priority = line.priority,
                 .node = line.required_node,
                 .device = line.device,
                 .work = line.work,
                 .line = static_cast<std::uint32_t>(number)});
  }

  const SimulationInput& script_;
  const std::atomic<bool>& stops_;
  const Duration work_limit_;
  const std::atomic<Duration>& time_limit_;  // lowered by other simulations
  Duration done_{};
  std::size_t tasks_ = 0;
  std::array<Duration, 3> quarters_{};
  std::size_t quarter_ = 0;  // the next one
  bool stop_condition_met_ = false;
  std::vector<Submission::Use> uses_;
  SimulationFinished all_submitted_;
  engine::Options::TellOver tell_over_;
  backend::SimWorld world_;
  engine::RuntimeCore core_;
  std::vector<engine::RegisteredDatum> data_;
};

}  // namespace

std::vector<SimulationOutcome> CandidateSimulator::simulate(std::span<const std::string> policies,
                                                            Duration enough, Duration patience) {
  std::vector<SimulationOutcome> all(policies.size());
  std::vector<std::size_t> tasks(policies.size());
  std::atomic<Duration> limit{patience};
  std::atomic<std::size_t> next{0};
  const auto work = [&]() noexcept {
    for (std::size_t i = next.fetch_add(1); i < all.size(); i = next.fetch_add(1)) {
      if (stops_.load(std::memory_order_relaxed)) return;
      try {
        CandidateSimulation play(script_, stops_, policies[i], enough, limit);
        all[i] = play.run();
        tasks[i] = play.tasks();
        if (!all[i].completed()) continue;
        const Duration enough_by_far = all[i].time * 3 / 2;
        for (Duration now = limit.load();
             enough_by_far < now && !limit.compare_exchange_weak(now, enough_by_far);) {
        }
      } catch (const std::exception&) {
        // For example, a task fits nowhere: the run reports that itself. Or memory is short: the run does not need this
        // simulation.
      }
    }
  };
  {
    JoinedThreads helpers;
    const std::size_t at_once = std::min(threads_, policies.size());
    try {
      for (std::size_t i = 1; are_ == Threads::real && i < at_once; ++i) helpers.start(work, ignore_failure);
    } catch (const std::exception&) {
      // The threads that did start run the simulations.
    }
    work();
  }
  const std::size_t sum = std::accumulate(tasks.begin(), tasks.end(), std::size_t{0});
  tasks_played_ += std::max(std::ranges::max(tasks), sum / threads_);
  return all;
}

}  // namespace fairlead::front
