// The engine's parts without an engine: connected as the engine connects them, with a world and a policy that record
// their notifications. The test completes copies.
#pragma once
#include <gtest/gtest.h>

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/task_source.hpp"
#include "engine/dispatcher.hpp"
#include "memory/bare.hpp"

namespace fairlead::tests {

using Notes = std::vector<std::string>;

inline std::string number_of(const Task& task) { return std::to_string(index(task.id)); }

struct NotingWorld final : engine::World {
  void launch(WorkerId worker, Task& task) override { note("launch", task, worker); }
  void recall(WorkerId worker, Task& task) override { note("recall", task, worker); }
  void span_formed(Task& task, std::span<const WorkerId> workers) override {
    notes.push_back("gathered " + number_of(task) + " on" + list(workers));
  }
  void span_released(std::span<const WorkerId> workers) override {
    notes.push_back("dissolved" + list(workers));
  }
  void start(memory::Copy&) override {}
  void wake(engine::WakeTarget) noexcept override {}

  void note(const char* what, const Task& task, WorkerId worker) {
    notes.push_back(what + (" " + number_of(task)) + " on " + std::to_string(index(worker)));
  }
  static std::string list(std::span<const WorkerId> workers) {
    std::string text;
    for (const WorkerId worker : workers) text += " " + std::to_string(index(worker));
    return text;
  }
  Notes notes;
};

/// Picks the first task that the worker can run.
struct NotingPolicy final : Policy {
  explicit NotingPolicy(Notifications wanted) : interest(wanted) {}
  Notifications interests() const override { return interest; }
  void ready(Task& task, WorkerId) override {
    note("ready", task);
    held.push_back(&task);
  }
  void returned(Task& task) override {
    note("returned", task);
    held.push_back(&task);
  }
  void worker_lost(WorkerId worker) override { notes.push_back("lost " + std::to_string(index(worker))); }
  void cancelled(Task& task) override {
    note("cancelled", task);
    std::erase(held, &task);
  }
  void started(Task& task, WorkerId) override { note("started", task); }
  void finished(Task& task, WorkerId, Duration) override { note("finished", task); }
  Task* pick(WorkerId worker, bool must) override {
    if (!gives && !must) return nullptr;
    return take_any(worker);
  }
  Task* take_any(WorkerId worker) override {
    const auto found = std::ranges::find_if(held, [&](Task* task) { return view().can_run(*task, worker); });
    if (found == held.end()) return nullptr;
    Task* const task = *found;
    held.erase(found);
    return task;
  }

  void note(const char* what, const Task& task) { notes.push_back(what + (" " + number_of(task))); }
  const Notifications interest;
  bool gives = true;
  std::vector<Task*> held;
  Notes notes;
};

/// The source of the tasks. Cancelled tasks have a source of their own.
struct NoFlow final : TaskSource {
  void release(Task&, ReadyTasks&) override {}
};

struct EngineParts {
  explicit EngineParts(Topology machine, Notifications interest = Notifications::none,
                       engine::Options chosen = {})
      : bare(std::move(machine)),
        options(std::move(chosen)),
        noted(std::make_unique<NotingPolicy>(interest)),
        noting(*noted),
        policy(std::move(noted)),
        durations(bare.topology, memory, {}, {}),
        pipelines(bare.topology.workers.size()),
        depth(options.pipeline_depth),
        view(bare.topology, memory, pipelines, durations, 1),
        fast_path(bare.topology.workers.size(), 1, memory, view.host(), effects),
        journal(bare.topology, options),
        endings(memory, effects, fast_path, pipelines, policy, journal, deliveries, stop, roles),
        roles({.memory = memory,
               .effects = effects,
               .view = view,
               .fast_path = fast_path,
               .endings = endings,
               .journal = journal,
               .deliveries = deliveries,
               .pseudo_tasks = pseudo_tasks,
               .mistake = {}}),
        launcher(world, view, fast_path, pipelines, durations, policy, journal),
        gathering(memory, world, view, fast_path, pipelines, depth, launcher, endings, journal),
        pause(view, pipelines, launcher, fast_path, memory),
        dispatcher({.memory = memory,
                    .effects = effects,
                    .view = view,
                    .pipelines = pipelines,
                    .depth = depth,
                    .policy = policy,
                    .durations = durations,
                    .journal = journal,
                    .launcher = launcher,
                    .gathering = gathering,
                    .pause = pause,
                    .pseudo_tasks = pseudo_tasks,
                    .roles = roles,
                    .endings = endings,
                    .fast_path = fast_path,
                    .stop = stop},
                   options) {
    memory.use_policy(noting);
    noting.attach(view);
    codelet.name = "work";
    cancelled_flow.cancelled.store(true);
    for (std::size_t i = 0; i < bare.topology.workers.size(); ++i)
      pipelines.arrived(static_cast<WorkerId>(i), Time{}, Duration{});
  }
  /// CPU workers with RAM of the given size over a disk.
  explicit EngineParts(std::size_t workers, Bytes ram, Notifications interest = Notifications::none)
      : EngineParts(out_of_core_topology(workers, ram, 1e9, Duration{}), interest) {}

  // ---- tasks

  DatumId datum(Bytes bytes) { return bare.datum(bytes); }
  Task& task(AccessMode mode, std::initializer_list<DatumId> data, TaskRole role = TaskRole::program) {
    Task& made = bare.task(mode, data);
    made.codelet = &codelet;
    made.family = &flow_of_tasks.described;
    made.role = role;
    return made;
  }
  /// Cancels the flow of this task only.
  void cancel(Task& task) { task.family = &cancelled_flow.described; }

  // ---- events, as an engine handles them

  /// The steps after each batch of events.
  void go_on() {
    dispatcher.follow(out);
    dispatcher.give_work(out);
  }
  void ready(Task& task) {
    dispatcher.ready(task, out);
    go_on();
  }
  void ready(std::initializer_list<Task*> tasks) {
    for (Task* task : tasks) dispatcher.ready(*task, out);
    go_on();
  }
  void over(Task& task, bool succeeded = true) {
    dispatcher.finished(task, succeeded);
    go_on();
  }
  void release(Task& hold, bool unused = false) {
    HoldRelease release;
    release.hold = &hold;
    release.data_unused = unused;
    roles.of(hold).released(release, out);
    go_on();
  }
  /// Completes all copies in flight, and those that follow.
  void land(bool well = true) {
    while (!out.copies.empty()) {
      for (memory::Copy* copy : std::exchange(out.copies, {})) memory.landed(*copy, well, effects);
      go_on();
    }
  }
  /// The tasks that ended without running since the last call.
  std::vector<Task*> take_completed() { return std::exchange(out.completions, {}); }
  bool poisoned(DatumId id) { return memory.datum(id).poisoned; }

  Bare bare;
  memory::Memory& memory = bare.memory;
  memory::Effects& effects = bare.effects;
  engine::Options options;
  NotingWorld world;
  CodeletInfo codelet;
  NoFlow flow_of_tasks, cancelled_flow;
  engine::StopReason stop;
  engine::PendingDeliveries deliveries;
  std::unique_ptr<NotingPolicy> noted;
  NotingPolicy& noting;
  engine::PolicyInUse policy;
  engine::TaskDurations durations;
  engine::Pipelines pipelines;
  engine::PipelineDepth depth;
  engine::EngineView view;
  engine::FastPathControl fast_path;
  engine::RunRecords journal;
  engine::Completions endings;
  engine::PseudoTasks pseudo_tasks;
  engine::Roles roles;
  engine::Launcher launcher;
  engine::SpanScheduler gathering;
  engine::Pause pause;
  engine::Dispatcher dispatcher;
  engine::Commands out;
};

}  // namespace fairlead::tests
