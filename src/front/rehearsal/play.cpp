// One play: a runtime of its own, into which the tasks are submitted once more.
#include "front/rehearsal/play.hpp"

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
#include "front/rehearsal/from_here.hpp"
#include "schedule/policies.hpp"

namespace fairlead::front {

namespace {

class Play {
 public:
  Play(const Script& script, const std::atomic<bool>& stops, std::string_view policy, Duration enough,
       const std::atomic<Duration>& patience)
      : script_(script),
        stops_(stops),
        enough_(enough),
        patience_(patience),
        world_(sim_options()),
        core_(core_options(policy), world_),
        data_(script.data().size()) {
    Bytes end_of_data = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Script::Data& datum = script.data()[i];
      core_.register_datum(data_[i], {.bytes = datum.bytes,
                                      .home = datum.home,
                                      .home_offset = end_of_data,
                                      .coordinates = datum.coordinates});
      if (datum.advice != no_device) core_.advise(data_[i], datum.advice);
      data_[i].ever_written = true;
      end_of_data += datum.bytes;
      core_.engine().locked([&](memory::Memory& memory) {
        for (std::uint32_t left = datum.nodes; left != 0; left &= left - 1)
          memory.place(data_[i].id, static_cast<NodeId>(std::countr_zero(left)), datum.changed);
      });
    }
  }

  Played run() {
    FlowSource flow(core_);
    for (std::size_t i = 0; i < script_.lines().size() && !stops_.load(std::memory_order_relaxed); ++i)
      submit(flow, i);
    if (!script_.more_follow()) core_.engine().all_submitted();
    core_.engine().horizon_closed();
    world_.after(Duration{}, [this] { tell_over_(all_submitted_); });
    core_.help([this] { return over() || is_enough_; });
    if (!over()) {
      const Duration then = world_.now();
      const bool found = done_ >= enough_ && then <= patience_.load(std::memory_order_relaxed);
      flow.cancel();
      flow.finish();
      return {found ? then : Duration::max(), quarters_};
    }
    flow.wait();
    if (results_go_home()) core_.home_values().flush();
    return {world_.now(), quarters_};
  }
  std::size_t tasks() const noexcept { return tasks_; }

 private:
  bool over() const noexcept { return tasks_ == script_.lines().size(); }
  /// What the store keeps only if it does not fit elsewhere stays where it is when a program has waited.
  bool results_go_home() const {
    return std::ranges::any_of(script_.data(), [&](const Script::Data& datum) {
      return script_.topology().nodes[index(datum.home)].memory != MemoryKind::store;
    });
  }
  /// Each task carries its number where others have a line of a file.
  Duration estimate(const Task& task, WorkerId worker) const {
    return script_.estimate(task.submitted_at.line, worker);
  }

  backend::SimOptions sim_options() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.on_end = [this](Task& task, WorkerId, bool) {
      ++tasks_;
      done_ += script_.lines()[task.submitted_at.line].least;
      for (; quarter_ < quarters_.size() && 4 * done_ >= static_cast<std::int64_t>(quarter_ + 1) * enough_;
           ++quarter_)
        quarters_[quarter_] = world_.now();
      is_enough_ = is_enough_ || done_ >= enough_ ||
                   world_.now() > patience_.load(std::memory_order_relaxed) ||
                   stops_.load(std::memory_order_relaxed);
    };
    return options;
  }
  engine::CoreOptions core_options(std::string_view policy) {
    engine::CoreOptions options;
    options.topology = script_.topology();
    options.policy = std::make_unique<FromHere>(schedule::make_policy(policy), [this](const Task& task) {
      return script_.lines()[task.submitted_at.line].given_to;
    });
    options.engine.policy_name = policy;
    options.engine.rehearsal = [this](const memory::Memory&, const View&, engine::Options::TellOver tell) {
      tell_over_ = std::move(tell);
      return std::make_unique<Submitting>();
    };
    options.engine.estimate = [this](const Task& task, WorkerId worker) { return estimate(task, worker); };
    options.refresh = false;
    options.window = script_.lines().size() + 1;  // submitting the last one, too, waits for nobody
    return options;
  }

  void submit(FlowSource& flow, std::size_t number) {
    const Script::Line& line = script_.lines()[number];
    uses_.clear();
    for (const Script::Use& use : script_.uses_of(line)) uses_.push_back({&data_[use.datum], use.mode});
    flow.submit({.codelet = line.codelet,
                 .uses = uses_,
                 .priority = line.priority,
                 .node = line.only,
                 .device = line.device,
                 .work = line.work,
                 .line = static_cast<std::uint32_t>(number)});
  }

  const Script& script_;
  const std::atomic<bool>& stops_;
  const Duration enough_;
  const std::atomic<Duration>& patience_;  // others lower it
  Duration done_{};
  std::size_t tasks_ = 0;
  std::array<Duration, 3> quarters_{};
  std::size_t quarter_ = 0;  // the next one
  bool is_enough_ = false;
  std::vector<Submission::Use> uses_;
  RehearsalOver all_submitted_;
  engine::Options::TellOver tell_over_;
  backend::SimWorld world_;
  engine::RuntimeCore core_;
  std::vector<engine::RegisteredDatum> data_;
};

}  // namespace

std::vector<Played> SimulatedStage::play(std::span<const std::string> policies, Duration enough,
                                         Duration patience) {
  std::vector<Played> all(policies.size());
  std::vector<std::size_t> tasks(policies.size());
  std::atomic<Duration> limit{patience};
  std::atomic<std::size_t> next{0};
  const auto work = [&]() noexcept {
    for (std::size_t i = next.fetch_add(1); i < all.size(); i = next.fetch_add(1)) {
      if (stops_.load(std::memory_order_relaxed)) return;
      try {
        Play play(script_, stops_, policies[i], enough, limit);
        all[i] = play.run();
        tasks[i] = play.tasks();
        if (!all[i].over()) continue;
        const Duration enough_by_far = all[i].time * 3 / 2;
        for (Duration now = limit.load();
             enough_by_far < now && !limit.compare_exchange_weak(now, enough_by_far);) {
        }
      } catch (const std::exception&) {
        // A task fits nowhere, for instance: the run will say so itself. Or there is no memory for a play's
        // descriptors: the run does not need it.
      }
    }
  };
  {
    JoinedThreads helpers;
    const std::size_t at_once = std::min(threads_, policies.size());
    try {
      for (std::size_t i = 1; are_ == Threads::real && i < at_once; ++i) helpers.start(work, ignore_failure);
    } catch (const std::exception&) {
      // Those that there are play.
    }
    work();
  }
  const std::size_t sum = std::accumulate(tasks.begin(), tasks.end(), std::size_t{0});
  tasks_played_ += std::max(std::ranges::max(tasks), sum / threads_);
  return all;
}

}  // namespace fairlead::front
