// One play: a runtime of its own, into which the tasks are submitted once more.
#include "front/rehearsal/simulated_rehearsal.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "backend/sim/sim_world.hpp"
#include "engine/runtime_core.hpp"
#include "front/flow/flow_source.hpp"
#include "policy/least_estimate.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {

namespace {

class Play {
 public:
  Play(const memory::Memory& memory, const View& view, std::span<const WorkerId> different,
       std::string_view policy, std::span<Task* const> tasks)
      : memory_(memory),
        view_(view),
        different_(different),
        tasks_(tasks),
        world_(sim_options()),
        core_(core_options(policy), world_) {}

  Duration run(Duration enough, Duration patience) {
    enough_ = enough;
    patience_ = patience;
    FlowSource flow(core_);
    for (std::size_t i = 0; i < tasks_.size(); ++i) submit(flow, i);
    core_.help([this] { return stops_; });
    if (over_ < tasks_.size()) {
      const Duration then = world_.now();
      flow.cancel();
      flow.finish();
      return then > patience ? Duration::max() : then;
    }
    flow.wait();
    core_.home_values().flush();
    return world_.now();
  }

 private:
  /// Each task carries its number where others have a line of a file.
  const Task& original(const Task& copy) const { return *tasks_[copy.submitted_at.line]; }
  Duration estimate(const Task& copy, WorkerId worker) const {
    return view_.estimate(original(copy), worker);
  }

  backend::SimOptions sim_options() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.on_end = [this](Task& task, WorkerId, bool) {
      ++over_;
      done_ += least_estimate(view_, original(task), different_);
      stops_ = stops_ || done_ >= enough_ || world_.now() > patience_;
    };
    return options;
  }
  engine::CoreOptions core_options(std::string_view policy) {
    engine::CoreOptions options;
    options.topology = memory_.topology();
    options.policy = schedule::make_policy(policy);
    options.engine.policy_name = policy;
    options.engine.estimate = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.refresh = false;
    options.window = std::max<std::size_t>(tasks_.size(), 1);
    return options;
  }

  void submit(FlowSource& flow, std::size_t number) {
    const Task& task = *tasks_[number];
    uses_.clear();
    for (const Access& access : task.accesses())
      // Partial results are not played: what adds to one datum comes one after the other.
      uses_.push_back({&datum(access.datum),
                       access.mode == AccessMode::reduction ? AccessMode::commutative : access.mode});
    flow.submit({.codelet = &codelet(*task.codelet),
                 .uses = uses_,
                 .priority = task.priority,
                 .device = task.place.device,
                 .work = task.work,
                 .line = static_cast<std::uint32_t>(number)});
  }

  engine::RegisteredDatum& datum(DatumId id) {
    const auto [at, is_new] = data_.try_emplace(index(id));
    if (!is_new) return at->second;
    const memory::Datum& known = memory_.datum(id);
    core_.register_datum(at->second, {.bytes = known.bytes,
                                      .home = known.home.node,
                                      .home_offset = end_of_data_,
                                      .coordinates = known.coordinates});
    if (known.advice != no_device) core_.advise(at->second, known.advice);
    at->second.ever_written = true;
    end_of_data_ += known.bytes;
    return at->second;
  }
  /// The task's without its bodies: implementations are not chosen among here.
  const CodeletInfo& codelet(const CodeletInfo& of_task) {
    CodeletInfo& info = codelets_[&of_task];
    if (info.name.empty()) {
      info.name = of_task.name;
      info.kinds = of_task.kinds;
    }
    return info;
  }

  const memory::Memory& memory_;
  const View& view_;
  const std::span<const WorkerId> different_;
  const std::span<Task* const> tasks_;
  Duration enough_{}, patience_{}, done_{};
  std::size_t over_ = 0;
  bool stops_ = false;
  Bytes end_of_data_ = 0;
  std::unordered_map<const CodeletInfo*, CodeletInfo> codelets_;
  std::unordered_map<std::size_t, engine::RegisteredDatum> data_;  // by id; addresses stay
  std::vector<Submission::Use> uses_;
  backend::SimWorld world_;
  engine::RuntimeCore core_;
};

}  // namespace

SimulatedRehearsal::SimulatedRehearsal(const memory::Memory& memory, const View& view)
    : memory_(memory), view_(view) {
  for (const WorkerInfo& worker : view.workers()) {
    const auto same = [&](WorkerId other) {
      const WorkerInfo& it = view.workers()[index(other)];
      return it.kind == worker.kind && it.node == worker.node;
    };
    if (std::ranges::none_of(different_, same)) different_.push_back(worker.id);
  }
}

Duration SimulatedRehearsal::play(std::string_view policy, std::span<Task* const> tasks, Duration enough,
                                  Duration patience) {
  try {
    return Play(memory_, view_, different_, policy, tasks).run(enough, patience);
  } catch (const Error&) {
    return Duration::max();  // a task fits nowhere, for instance: the run will say so itself
  } catch (const std::bad_alloc&) {
    return Duration::max();  // a play needs descriptors for all its tasks; the run does not need the play
  }
}

}  // namespace fairlead::front
