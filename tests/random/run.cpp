// See run.hpp.
#include "random/run.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "front/checkpoint/pause_of_run.hpp"
#include "front/flow/flow_source.hpp"
#include "random/value_checker.hpp"
#include "schedule/policies.hpp"

namespace fairlead::random_runs {

namespace {

// While a task waits for memory, 64 others may be admitted before it; and one that was admitted, per worker, may start.
constexpr std::size_t most_passed = 64 + 8;

/// The checker knows the generated values.
class NoGenerator final : public data::Generator {
 public:
  void make(std::byte*, Bytes, Bytes) const override {}
};

/// Carries a program out on a runtime.
class Runner {
 public:
  Runner(engine::RuntimeCore& core, const RandomProgram& program, ValueChecker& checker, std::uint64_t seed,
         bool failures_planned, bool several_bodies, bool pauses)
      : core_(core),
        program_(program),
        checker_(checker),
        random_(seed),
        failures_planned_(failures_planned),
        pauses_(pauses) {
    checker_.is_over = [this](std::size_t t) { return watched_.at(t)->finished.load(); };
    for (std::size_t kinds = 0; kinds < codelets_.size(); ++kinds) {
      codelets_[kinds].name = "random";
      codelets_[kinds].kinds = static_cast<std::uint32_t>(kinds);
      for (std::uint32_t kind = 0; several_bodies && kind < 3; ++kind)
        for (const char* name : {"second", "third"})
          if (((kinds >> kind) & 1) != 0)
            codelets_[kinds].implement(static_cast<WorkerKind>(kind), {nullptr, nullptr, false, name});
      // Whatever is reduced is added up; the checker does that.
      codelets_[kinds].reductions.resize(
          64, {[](const detail::DatumLocation&, const detail::DatumLocation&, const detail::ReducedShape&) {},
               [](detail::ReducedShape&, const void*) {}});
    }
  }

  void run() {
    for (const PlannedFlow& planned : program_.flows) {
      while (data_.size() < planned.data) register_next();
      run_flow(planned);
      for (const std::size_t d : planned.removed_after) core_.remove_datum(*data_[d]);
    }
    flush();
    // Copies for tasks that failed, and prefetches, may still be under way.
    core_.wait_until([this] { return core_.engine().idle(); });
  }
  bool something_failed() const { return something_failed_ || refused_ != 0; }
  void count(RunResult& result) const {
    result.holds_granted = granted_;
    result.holds_refused = refused_;
    result.waits_refused = waits_refused_;
    result.losses_reported = losses_reported_;
    result.pauses = times_paused_;
  }

 private:
  void register_next() {
    const std::size_t i = data_.size();
    const PlannedDatum& planned = program_.data[i];
    data_.push_back(std::make_unique<engine::RegisteredDatum>());
    const NodeId home{static_cast<std::uint16_t>(planned.in_user_memory ? 0 : 1)};
    core_.register_datum(*data_.back(),
                         {.bytes = planned.bytes,
                          .home = home,
                          .home_offset = i << 20,
                          .generator = planned.generated ? &generator_ : nullptr,
                          .coordinates = {0, static_cast<int>(i / 4), static_cast<int>(i % 4)}});
    data_.back()->ever_written = !planned.temporary;
    advise(i);
    checker_.registered(i, data_.back()->id);
  }

  // The program's hints for data and tasks, with accelerators.

  void advise(std::size_t d) {
    const std::uint64_t drawn = Random::mix(3 * d + program_.data.size());
    if (core_.machine().devices != 0 && drawn % 2 == 0)
      core_.advise(*data_[d], static_cast<int>((drawn >> 8) % (core_.machine().devices + 1u)) - 1);
  }
  void wish(front::Submission& submission, std::size_t t) const {
    const std::uint64_t drawn = Random::mix(5 * t + program_.data.size());
    if (core_.machine().devices == 0 || program_.tasks[t].hold) return;
    if (drawn % 3 == 0) submission.device = static_cast<int>((drawn >> 8) % core_.machine().devices);
    if (drawn % 5 == 0) submission.like = static_cast<int>((drawn >> 24) % submission.uses.size());
  }

  void run_flow(const PlannedFlow& planned) {
    front::FlowSource flow(core_);
    for (std::size_t t = planned.first_task; t < planned.end_task; ++t) {
      release([&](const Held& held) { return program_.tasks[held.planned].released_before <= t; });
      if (random_.once_in(20)) work(random_.below(60));
      if (std::ranges::find(planned.flushed_before, t) != planned.flushed_before.end()) {
        release_all();
        flush();
      }
      if (planned.cancelled_before == t) flow.cancel();
      const PlannedTask& task = program_.tasks[t];
      std::vector<front::Submission::Use> uses;
      for (const PlannedUse& use : task.uses) uses.push_back({data_[use.datum].get(), use.mode});
      front::Submission submission;
      submission.codelet = &codelets_[task.kinds];
      submission.uses = uses;
      submission.priority = task.priority;
      submission.scratch_bytes = task.scratch;
      submission.workers = at_most(task.workers);
      submission.file = "random/run.cpp";
      submission.line = static_cast<std::uint32_t>(t);
      wish(submission, t);
      // Holds may leave no memory, or fragment it: then they are released, and the call is repeated.
      insist([&] { task.hold ? acquire(flow, submission, t) : submit(flow, submission, t); });
      if (pauses_ && Random::mix(7 * t + program_.tasks.size()) % 16 == 0) pause(flow);
    }
    if (random_.once_in(2)) release_all();
    try {
      insist([&] { flow.wait(); });
      check_own_memory();
    } catch (const TaskError&) {
      something_failed_ = true;
      if (!failures_planned_) throw;
    } catch (const DeviceLostError&) {
      ++losses_reported_;
      if (!failures_planned_) throw;
    }
    if (random_.once_in(2)) release_all();
    // The callbacks' holds are released; tasks behind them may fail in the next flow's time.
    release_all();
    core_.wait_until([&] { return flow.done() == flow.submitted() && core_.holds().open() == 0; });
  }

  void submit(front::FlowSource& flow, const front::Submission& submission, std::size_t t) {
    front::SubmissionOrder order;
    for (const std::size_t before : program_.tasks[t].after) order.after.push_back(watched_.at(before));
    auto watched = std::make_shared<front::ObservedTask>();
    flow.submit(submission, codelet_, watched, &order);
    watched_[t] = std::move(watched);
  }

  // ---- holds

  struct Held {
    std::size_t planned;
    std::shared_ptr<engine::OpenHold> record;
  };

  void acquire(front::FlowSource& flow, const front::Submission& submission, std::size_t t) {
    std::vector<detail::AccessIndex> access_of_use;
    if (program_.tasks[t].with_callback) {
      flow.acquire_then(submission, access_of_use,
                        [this, t](const std::shared_ptr<engine::OpenHold>& record) {
                          granted(t, record);
                          if (held_.empty() || held_.back().record != record) return;
                          checker_.hold_ends(record->task);
                          core_.holds().release(*record);
                          held_.pop_back();
                        });
      return;
    }
    try {
      granted(t, flow.acquire(submission, access_of_use));
    } catch (const TaskError&) {
      ++refused_;
      if (!failures_planned_) throw;
    }
  }
  void granted(std::size_t t, const std::shared_ptr<engine::OpenHold>& record) {
    if (record->state.load() != engine::OpenHold::State::granted) {
      ++refused_;
      return;
    }
    ++granted_;
    checker_.hold_starts(record->task);
    held_.push_back({t, record});
  }
  template <class Which>
  void release(Which&& which) {
    std::vector<Held> chosen;  // a release may grant a hold to a callback, which changes held_
    std::erase_if(held_, [&](const Held& held) {
      if (!which(held)) return false;
      chosen.push_back(held);
      return true;
    });
    for (const Held& held : chosen) {
      checker_.hold_ends(held.record->task);
      core_.holds().release(*held.record);
    }
  }
  void release_all() {
    release([](const Held&) { return true; });
  }
  template <class What>
  void insist(What&& what) {
    for (;;) {
      try {
        return what();
      } catch (const UsageError&) {
        if (held_.empty()) throw;
        ++waits_refused_;
      } catch (const FootprintError&) {
        ++waits_refused_;
        // There are no holds: unfinished tasks occupy the memory.
        if (held_.empty() && core_.holds().open() == 0) {
          if (core_.sources().all_over()) throw;
          core_.wait_until([&] { return core_.sources().all_over(); });
        }
      }
      release_all();
      // Holds with a callback may be granted only now.
      if (core_.holds().open() != 0) work(random_.below(60));
    }
  }

  /// While all workers pause no task starts or ends, and a flush brings every value home.
  void pause(const front::FlowSource& flow) {
    if (!core_.holds().none()) return;
    const front::PauseOfRun paused(core_, [] { return false; });
    if (!paused.is_complete()) throw Error("a pause is not complete");
    const std::uint64_t done = core_.engine().tasks_done();
    times_paused_ += flow.done() != flow.submitted();
    for (int flushes = 0; !homes_are_new(); ++flushes) {
      if (flushes == 3) throw Error("a flush in a pause leaves a value away from its home");
      paused.flush();
    }
    if (core_.engine().tasks_done() != done) throw Error("a task ended in a pause");
  }
  bool homes_are_new() const {
    for (std::size_t d = 0; d < data_.size(); ++d) {
      if (is_gone(d)) continue;
      const memory::Datum& datum = core_.engine().memory().datum(id_of(d));
      if (datum.dirty() && !datum.poisoned && !datum.is_partial) return false;
    }
    return true;
  }

  /// Afterwards the homes have the versions that were the newest at the start, or newer.
  void flush() {
    std::vector<std::uint64_t> wanted;
    for (std::size_t d = 0; d < data_.size(); ++d) {
      if (is_gone(d)) {
        wanted.push_back(0);
        continue;
      }
      const memory::Datum& datum = core_.engine().memory().datum(id_of(d));
      wanted.push_back(datum.poisoned ? 0 : datum.version.get());
    }
    try {
      core_.home_values().flush();
    } catch (const DeviceLostError&) {
      ++losses_reported_;
      if (!failures_planned_) throw;
    }
    for (std::size_t d = 0; d < wanted.size(); ++d)
      if (wanted[d] != 0 && !core_.engine().memory().datum(id_of(d)).poisoned &&
          core_.engine().memory().datum(id_of(d)).home.version < wanted[d])
        throw Error(fmt::format("datum {} is not at home after a flush", d));
  }

  /// After a wait: data in the program's own memory are up to date, unless a task changes them.
  void check_own_memory() {
    for (std::size_t d = 0; d < data_.size(); ++d) {
      if (is_gone(d)) continue;
      const memory::Datum& datum = core_.engine().memory().datum(id_of(d));
      if (program_.data[d].in_user_memory && datum.dirty() && datum.writers == 0)
        throw Error(fmt::format("datum {} is not up to date in the program's memory after a wait", d));
    }
  }

  DatumId id_of(std::size_t planned) const { return data_[planned]->id; }
  bool is_gone(std::size_t planned) const { return id_of(planned) == no_id<DatumId>; }

  /// The application waits a little, so that tasks run in between.
  void work(std::uint64_t events) {
    core_.wait([&] {
      if (events == 0 || core_.engine().idle()) return true;
      --events;
      return false;
    });
    core_.throw_if_stopped();
  }

  engine::RuntimeCore& core_;
  const RandomProgram& program_;
  ValueChecker& checker_;
  std::vector<Held> held_;
  std::map<std::size_t, std::shared_ptr<front::ObservedTask>> watched_;  // by number in the program
  const std::shared_ptr<const CodeletInfo> codelet_ = std::make_shared<CodeletInfo>();
  std::uint64_t granted_ = 0, refused_ = 0, waits_refused_ = 0, losses_reported_ = 0;
  Random random_;
  bool failures_planned_, pauses_, something_failed_ = false;
  std::uint64_t times_paused_ = 0;
  std::array<CodeletInfo, 8> codelets_;
  const NoGenerator generator_;
  std::vector<std::unique_ptr<engine::RegisteredDatum>> data_;
};

void count(const memory::Memory& memory, RunResult& result) {
  constexpr auto prefetch = static_cast<std::size_t>(memory::Cause::prefetch);
  for (const auto& traffic : memory.transfers().traffic()) {
    for (std::size_t c = 0; c < memory::cause_count; ++c) {
      result.copies += traffic.from_home[c].copies + traffic.to_home[c].copies;
      result.bytes_moved += traffic.from_home[c].bytes + traffic.to_home[c].bytes;
    }
    result.prefetches += traffic.from_home[prefetch].copies + traffic.to_home[prefetch].copies;
    result.prefetched_bytes += traffic.from_home[prefetch].bytes + traffic.to_home[prefetch].bytes;
  }
  for (std::size_t i = 2; i < memory.topology().nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const auto& unused = memory.node(id).unused_prefetch_bytes.get();
    result.evictions += memory.node(id).evictions;
    result.unused_prefetch_bytes +=
        std::accumulate(unused.begin(), unused.end(), memory.prefetches().unused(id));
  }
}

/// Returns random outcomes, so that one policy hands over to another in the middle of a run.
class RandomOutcomes final : public Simulator {
 public:
  explicit RandomOutcomes(Random& random) : random_(random) {}
  std::vector<SimulationOutcome> simulate(std::span<const std::string> policies, Duration,
                                          Duration) override {
    std::vector<SimulationOutcome> all(policies.size());
    for (SimulationOutcome& one : all)
      if (!random_.once_in(6)) one.time = Duration(random_.between(1'000, 1'000'000));
    return all;
  }

 private:
  Random& random_;
};

/// Finishes after a random time, with or without a result.
class FakeSimulation final : public WhatIfSimulation {
 public:
  FakeSimulation(std::uint64_t seed, engine::Options::TellOver tell, backend::SimWorld& world)
      : random_(seed), tell_(std::move(tell)), world_(world) {}

 private:
  void capture(std::span<Task* const>, Evaluation judge) override {
    RandomOutcomes stage(random_);
    over_.result = random_.once_in(8) ? 0 : judge(stage);
    world_.after(Duration(random_.once_in(3) ? 0 : random_.between(1, 3'000'000)), [this] { tell_(over_); });
  }

  Random random_;
  const engine::Options::TellOver tell_;
  backend::SimWorld& world_;
  SimulationFinished over_;
};

void enable_replacement(engine::CoreOptions& options, std::uint64_t seed, backend::SimWorld& world) {
  options.policy = schedule::make_policy("what-if:share=1:fewest=2");
  options.engine.estimate = [](const Task&, WorkerId) { return Duration(1'000'000); };
  options.engine.what_if_simulation = [seed, &world](const memory::Memory&, const View&,
                                                     engine::Options::TellOver tell) {
    return std::make_unique<FakeSimulation>(seed, std::move(tell), world);
  };
}

}  // namespace

std::optional<std::string> run(const RunPlan& plan, RunResult& result) {
  const RunOptions& options = plan.options;
  const Topology& machine = plan.machine;
  ValueChecker checker(plan.program, machine.nodes.size());

  backend::SimOptions sim;
  sim.seed = plan.simulator_seed;
  sim.noise_percent = 50;
  sim.copy_stalls_once_in = plan.copy_stalls_once_in;
  sim.copy_reported_late_once_in = plan.copy_reported_late_once_in;
  sim.recall_refused_once_in = plan.recall_refused_once_in;
  sim.copy_fails_once_in = plan.copy_fails_once_in;
  sim.write_back_fails_once_in = plan.write_back_fails_once_in;
  sim.task_fails_once_in = plan.task_fails_once_in;
  sim.lost = plan.lost;
  sim.lost_devices = plan.lost_devices;
  sim.most_events = 400 * options.tasks;
  sim.duration = [&plan](const Task& task, WorkerId) {
    const std::uint64_t body = task.implementation == no_implementation ? 0 : task.implementation;
    return Duration(plan.time_scale *
                    static_cast<std::int64_t>(10 + index(task.id) % 13 + body * (plan.seed % 5) * 8));
  };
  backend::SimWorld* running = nullptr;
  if (plan.seed % 5 == 2)  // another program occupies workers until the next multiple of a time
    sim.free_from = [&](WorkerId) {
      const std::int64_t apart = 25 * plan.time_scale, now = running->now().count();
      return Time((now + apart - 1) / apart * apart);
    };
  sim.on_copy_start = [&](const memory::Copy& copy) {
    for (const backend::DeviceLoss& loss : plan.lost_devices)
      if (copy.started > running->lost_since(loss.node) &&
          (copy.from->node == loss.node || copy.to->node == loss.node))
        checker.fail(
            fmt::format("a copy of datum {} begins after the loss of an end of it", index(copy.datum)));
    checker.copy_starts(copy);
    result.chained += machine.links[index(copy.link)].physical_links.size() == 2;
    result.generated += copy.generator != nullptr;
    result.kept_by += copy.via != nullptr;
    result.refuges +=
        copy.cause == memory::Cause::eviction && machine.nodes[index(copy.to->node)].role == NodeRole::cache;
  };
  sim.on_copy = [&](const memory::Copy& copy, bool succeeded) { checker.copy_ends(copy, succeeded); };
  sim.on_start = [&](Task& task, WorkerId worker) {
    result.spans += task.workers_wanted != 0 && task.width > 1;
    result.further_bodies += task.implementation != no_implementation && task.implementation > 0;
    checker.task_starts(task, worker);
  };
  sim.on_end = [&](Task& task, WorkerId, bool succeeded) {
    result.tasks_failed += !succeeded;
    checker.task_ends(task, succeeded);
  };
  backend::SimWorld world(sim);
  running = &world;

  engine::CoreOptions core_options{
      .topology = machine, .policy = schedule::make_policy(options.policy), .engine = {}};
  core_options.engine.seed = plan.seed;
  core_options.engine.check_invariants = true;
  core_options.engine.mistake = options.mistake;
  core_options.engine.log = options.at_end != nullptr;
  core_options.engine.pipeline_depth = plan.pipeline_depth;
  core_options.window = plan.window;
  // Not in logged runs: the log does not contain the random outcomes.
  if (options.policy == "what-if" && options.at_end == nullptr)
    enable_replacement(core_options, plan.seed, world);

  try {
    engine::RuntimeCore core(std::move(core_options), world);
    checker.attach(core.engine());
    Bytes used = Bytes{1} << 40;
    core.reductions().get_space_from([&](Bytes bytes, NodeId home) -> std::optional<engine::PartialSpace> {
      if (plan.short_of_space && used > (Bytes{1} << 40)) return std::nullopt;
      used += (bytes + 4095) / 4096 * 4096;
      return engine::PartialSpace{home, nullptr, used, nullptr};
    });
    const auto tell = [&](engine::RuntimeCore* ended) {
      options.at_end ? options.at_end(ended->engine()) : void();
    };
    const std::unique_ptr<engine::RuntimeCore, decltype(tell)> at_exit(&core, tell);
    Runner runner(core, plan.program, checker, plan.application_seed,
                  options.tasks_fail || options.copies_fail || options.cancels || !plan.lost_devices.empty(),
                  plan.seed % 2 == 0, options.pauses);
    runner.run();
    runner.count(result);
    const auto& memory = core.engine().memory();
    memory.check(true);
    checker.check_homes();
    count(memory, result);
    result.tasks_run = core.engine().tasks_done();
    result.tasks_cancelled = core.engine().endings().cancelled();
    result.longest_passed = checker.longest_passed();
    result.digest = core.engine().journal().digest().value();
    result.end_time = world.now().count();
    for (const backend::DeviceLoss& loss : plan.lost_devices)
      result.devices_lost += memory.node(loss.node).lost;
    result.folds = checker.folds();
    if (result.tasks_run + result.tasks_cancelled + core.engine().endings().skipped() !=
            core.sources().submitted() ||
        core.sources().submitted() < plan.program.task_count())
      return "a task was lost";
    if (result.tasks_cancelled != 0 && !runner.something_failed()) return "not every task ran";
    if (result.longest_passed > most_passed)
      return fmt::format("a task was passed {} times", result.longest_passed);
    if (result.unused_prefetch_bytes > result.prefetched_bytes)
      return "more was prefetched in vain than at all";
  } catch (const SystemError& error) {
    if (!options.write_backs_fail) return fmt::format("unexpected: {}", error.what());
  } catch (const std::exception& error) {
    // A task that a policy held when a device was lost may have no other worker.
    const bool no_worker_is_left =
        std::string_view(error.what()).find("no worker that could run") != std::string_view::npos;
    if (plan.lost_devices.empty() || !no_worker_is_left) return fmt::format("unexpected: {}", error.what());
  }
  return checker.failure();
}

}  // namespace fairlead::random_runs
