// See random_run.hpp.
#include "sim/random_run.hpp"

#include <fairlead/codelet_info.hpp>

#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "front/flow/flow_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

namespace {

struct PlannedUse {
  std::size_t datum;
  AccessMode mode;
};
struct PlannedTask {
  std::vector<PlannedUse> uses;
  int priority = 0;
  std::vector<std::uint64_t> expected_inputs;  // of a sequential run; 0 where any order is allowed
};

bool in_any_order(AccessMode mode) {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}

std::uint64_t contribution(std::size_t task, std::size_t datum) {
  return Random::mix(task * 1000003 + datum + 1);
}

/// What the task leaves in a datum: a function of all it read.
std::uint64_t output_of(std::size_t task, std::size_t datum, std::uint64_t inputs_hash) {
  return Random::mix(inputs_hash ^ Random::mix(task + 77) ^ (datum << 32));
}

struct Program {
  std::vector<Bytes> sizes;
  std::vector<bool> in_user_memory;
  std::vector<PlannedTask> tasks;
  std::vector<std::uint64_t> initial, final;

  Program(Random& random, std::size_t task_count) {
    const auto data = static_cast<std::size_t>(random.between(3, 24));
    const Bytes unit = random.once_in(2) ? 4096 : 1000;
    const bool equal = random.once_in(2);
    for (std::size_t i = 0; i < data; ++i) {
      sizes.push_back(equal ? unit * 4 : unit * static_cast<Bytes>(random.between(1, 12)));
      in_user_memory.push_back(random.once_in(8));
      initial.push_back(Random::mix(i + 5));
    }
    const auto most = std::min<std::size_t>(data, static_cast<std::size_t>(random.between(1, 5)));
    for (std::size_t t = 0; t < task_count; ++t) {
      PlannedTask task;
      task.priority = static_cast<int>(random.between(-3, 3));
      const auto uses = static_cast<std::size_t>(random.between(1, static_cast<std::int64_t>(most)));
      while (task.uses.size() < uses) {
        const auto datum = static_cast<std::size_t>(random.below(data));
        bool used = false;
        for (const PlannedUse& use : task.uses) used |= use.datum == datum;
        if (used) continue;
        static constexpr std::array modes{
            AccessMode::read,  AccessMode::read,       AccessMode::read,        AccessMode::read_write,
            AccessMode::write, AccessMode::read_write, AccessMode::commutative, AccessMode::reduction};
        task.uses.push_back({datum, modes[random.below(modes.size())]});
      }
      tasks.push_back(task);
    }
    run_in_order();
  }

  void run_in_order() {
    std::vector<std::uint64_t> values = initial;
    std::vector<bool> settled(values.size(), true);  // not in the middle of a group that may run in any order
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      PlannedTask& task = tasks[t];
      std::uint64_t hash = 0;
      for (const PlannedUse& use : task.uses) {
        const bool any = in_any_order(use.mode);
        if (reads(use.mode) && !any) hash = Random::mix(hash ^ values[use.datum]);
        task.expected_inputs.push_back(reads(use.mode) && !any ? values[use.datum] : 0);
      }
      for (const PlannedUse& use : task.uses)
        if (in_any_order(use.mode)) {
          values[use.datum] += contribution(t, use.datum);
        } else if (writes(use.mode)) {
          values[use.datum] = output_of(t, use.datum, hash);
        }
    }
    final = values;
  }
};

class Checker {
 public:
  Checker(const Program& program, std::size_t nodes)
      : program_(program), arenas_(nodes), home_(program.initial) {
    writers_.resize(home_.size());
    readers_.resize(home_.size());
  }
  void attach(engine::Engine& engine) { engine_ = &engine; }
  std::optional<std::string> failure;

  void copy_starts(const memory::Copy& copy) { flying_[&copy] = *place(*copy.from); }
  void copy_ends(const memory::Copy& copy, bool succeeded) {
    // A source that changed while it was read arrives torn.
    std::uint64_t value = flying_[&copy];
    if (*place(*copy.from) != value) value = Random::mix(value ^ *place(*copy.from) ^ 99);
    if (!succeeded) value = Random::mix(value + 13);
    *place(*copy.to) = value;
  }
  void task_starts(const Task& task) {
    const std::size_t t = static_cast<std::size_t>(task.id);
    const PlannedTask& planned = program_.tasks[t];
    auto& seen = inputs_[t];
    for (std::size_t i = 0; i < planned.uses.size(); ++i) {
      const PlannedUse& use = planned.uses[i];
      const std::uint64_t value = *place_for(task, use.datum);
      seen.push_back(value);
      if (planned.expected_inputs[i] != 0 && value != planned.expected_inputs[i])
        fail(fmt::format("task {} read a wrong version of datum {} ({})", t, use.datum, name_of(use.mode)));
      if (writers_[use.datum] != 0)
        fail(fmt::format("datum {} is used while it is being written", use.datum));
      if (writes(use.mode) && readers_[use.datum] != 0)
        fail(fmt::format("datum {} is written while it is being read", use.datum));
      ++(writes(use.mode) ? writers_ : readers_)[use.datum];
    }
  }
  void task_ends(const Task& task, bool succeeded) {
    const std::size_t t = static_cast<std::size_t>(task.id);
    const PlannedTask& planned = program_.tasks[t];
    const auto& seen = inputs_[t];
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < planned.uses.size(); ++i) {
      const PlannedUse& use = planned.uses[i];
      --(writes(use.mode) ? writers_ : readers_)[use.datum];
      if (reads(use.mode) && *place_for(task, use.datum) != seen[i])
        fail(fmt::format("datum {} changed under task {}", use.datum, t));
      if (reads(use.mode) && !in_any_order(use.mode)) hash = Random::mix(hash ^ seen[i]);
    }
    for (std::size_t i = 0; i < planned.uses.size(); ++i) {
      const PlannedUse& use = planned.uses[i];
      if (!writes(use.mode)) continue;
      std::uint64_t& value = *place_for(task, use.datum);
      if (!succeeded) {
        value = Random::mix(value + 1);
      } else if (in_any_order(use.mode)) {
        value = seen[i] + contribution(t, use.datum);
      } else {
        value = output_of(t, use.datum, hash);
      }
    }
  }
  void check_homes() {
    for (std::size_t d = 0; d < home_.size(); ++d)
      if (home_[d] != program_.final[d]) fail(fmt::format("datum {} ends with a wrong value at home", d));
  }

 private:
  void fail(std::string what) {
    if (!failure) failure = std::move(what);
  }
  std::uint64_t* place(const memory::Replica& replica) {
    if (engine_->memory().topology().nodes[index(replica.node)].role == NodeRole::home)
      return &home_[index(replica.datum)];
    return &arenas_[index(replica.node)][replica.block.offset];
  }
  std::uint64_t* place_for(const Task& task, std::size_t datum) {
    const memory::Datum& state = engine_->memory().datum(static_cast<DatumId>(datum));
    if (engine_->memory().reaches(task.node, state.home.node)) return &home_[datum];
    for (const memory::Replica* replica = state.cached; replica != nullptr; replica = replica->next_of_datum)
      if (replica->node == task.node) {
        if (replica->state == ReplicaState::absent) fail("a task runs without space for its data");
        return place(*replica);
      }
    fail("a task runs without its data");
    return &home_[datum];
  }

  const Program& program_;
  engine::Engine* engine_ = nullptr;
  std::vector<std::map<Bytes, std::uint64_t>> arenas_;
  std::vector<std::uint64_t> home_;
  std::vector<int> writers_, readers_;
  std::map<const memory::Copy*, std::uint64_t> flying_;
  std::map<std::size_t, std::vector<std::uint64_t>> inputs_;
};

Topology random_machine(Random& random, const Program& program, bool tight) {
  Topology machine;
  machine.nodes = {{.name = "user memory", .role = NodeRole::home}, {.name = "disk", .role = NodeRole::home}};
  const auto caches = static_cast<std::size_t>(random.between(1, 3));
  Bytes largest = 0, all = 0;
  for (const PlannedTask& task : program.tasks) {
    Bytes footprint = 0;
    for (const PlannedUse& use : task.uses) footprint += (program.sizes[use.datum] + 4095) / 4096 * 4096;
    largest = std::max(largest, footprint);
  }
  for (const Bytes bytes : program.sizes) all += (bytes + 4095) / 4096 * 4096;
  const auto node = [](std::size_t i) { return static_cast<NodeId>(i); };
  for (std::size_t i = 0; i < caches; ++i) {
    Bytes capacity = largest + 4096 * random.below(tight ? 4 : 1 + all / 4096);
    if (random.once_in(10)) capacity = all;
    NodeSpec spec{.name = fmt::format("cache {}", i), .role = NodeRole::cache, .capacity = capacity};
    if (i == 0) spec.reaches = {node(0)};
    machine.nodes.push_back(spec);
    const auto workers = static_cast<std::size_t>(random.between(1, 3));
    for (std::size_t w = 0; w < workers; ++w) machine.workers.push_back({WorkerKind::cpu, node(2 + i)});
    for (std::size_t home = 0; home < 2; ++home)
      machine.links.push_back({.name = "link",
                               .first = node(home),
                               .second = node(2 + i),
                               .bytes_per_second = static_cast<double>(random.between(1, 40)) * 1e8,
                               .latency = Duration(random.between(0, 3000)),
                               .concurrent_copies = static_cast<unsigned>(random.between(1, 6))});
    for (std::size_t other = 0; other < i; ++other)
      machine.links.push_back({.name = "peer",
                               .first = node(2 + other),
                               .second = node(2 + i),
                               .bytes_per_second = 5e9,
                               .concurrent_copies = static_cast<unsigned>(random.between(1, 3))});
  }
  machine.links.push_back({.name = "user to disk", .first = node(0), .second = node(1)});
  return machine;
}

}  // namespace

std::optional<std::string> random_run(std::uint64_t seed, const RunOptions& options, RunResult& result) {
  Random random(seed * 7919 + 17);
  const Program program(random, options.tasks);
  const Topology machine = random_machine(random, program, options.tight);
  Checker checker(program, machine.nodes.size());

  backend::SimOptions sim;
  sim.seed = random.next();
  sim.noise_percent = 50;
  sim.copy_stalls_once_in = random.once_in(3) ? 20 : 0;
  sim.copy_fails_once_in = options.copies_fail ? 15 : 0;
  sim.write_back_fails_once_in = options.write_backs_fail ? 30 : 0;
  sim.task_fails_once_in = options.tasks_fail ? 40 : 0;
  const auto scale = static_cast<std::int64_t>(std::uint64_t{1} << random.below(12));
  sim.duration = [scale](const Task& task, WorkerId) { return Duration(scale * (10 + index(task.id) % 13)); };
  sim.on_copy_start = [&](const memory::Copy& copy) { checker.copy_starts(copy); };
  sim.on_copy = [&](const memory::Copy& copy, bool succeeded) { checker.copy_ends(copy, succeeded); };
  sim.on_start = [&](Task& task, WorkerId) { checker.task_starts(task); };
  sim.on_end = [&](Task& task, WorkerId, bool succeeded) { checker.task_ends(task, succeeded); };
  backend::SimWorld world(sim);

  engine::CoreOptions core_options{
      .topology = machine, .policy = schedule::make_policy(options.policy), .engine = {}};
  core_options.engine.seed = seed;
  core_options.engine.check_invariants = true;
  core_options.engine.bug = options.bug;
  core_options.engine.log = options.at_end != nullptr;
  core_options.engine.pipeline_depth =
      random.once_in(2) ? 0 : static_cast<std::size_t>(random.between(1, 16));
  core_options.window = random.once_in(2) ? 0 : static_cast<std::size_t>(random.between(2, 60));
  CodeletInfo codelet;
  codelet.name = "random";

  bool failed_as_planned = false;
  try {
    engine::RuntimeCore core(std::move(core_options), world);
    checker.attach(core.engine());
    const auto tell = [&](engine::RuntimeCore* ended) {
      options.at_end ? options.at_end(ended->engine()) : void();
    };
    const std::unique_ptr<engine::RuntimeCore, decltype(tell)> at_exit(&core, tell);
    std::vector<std::unique_ptr<engine::RegisteredDatum>> data;
    for (std::size_t i = 0; i < program.sizes.size(); ++i) {
      data.push_back(std::make_unique<engine::RegisteredDatum>());
      const NodeId home{static_cast<std::uint16_t>(program.in_user_memory[i] ? 0 : 1)};
      core.register_datum(*data.back(),
                          {.bytes = program.sizes[i],
                           .home = home,
                           .home_offset = i * 65536,
                           .coordinates = {0, static_cast<int>(i / 4), static_cast<int>(i % 4)}});
      data.back()->ever_written = true;
    }
    {
      front::FlowSource flow(core);
      for (const PlannedTask& task : program.tasks) {
        std::vector<front::Submission::Use> uses;
        for (const PlannedUse& use : task.uses) uses.push_back({data[use.datum].get(), use.mode});
        front::Submission submission;
        submission.codelet = &codelet;
        submission.uses = uses;
        submission.priority = task.priority;
        submission.file = "random_run.cpp";
        flow.submit(submission);
      }
      try {
        flow.wait();
      } catch (const TaskError&) {
        failed_as_planned = options.tasks_fail || options.copies_fail;
        if (!failed_as_planned) throw;
      }
      core.flush();
      core.help_until(
          [&] { return core.engine().idle(); });  // copies for tasks that failed may still be under way
    }
    const auto& memory = core.engine().memory();
    if (!core.engine().idle()) throw Error("the engine is not idle after everything is over");
    memory.check(true);
    result.tasks_run = core.engine().tasks_done();
    result.tasks_cancelled = core.engine().tasks_cancelled();
    for (const auto& traffic : memory.traffic())
      for (std::size_t c = 0; c < memory::cause_count; ++c) {
        result.copies += traffic.from_home[c].copies + traffic.to_home[c].copies;
        result.bytes_moved += traffic.from_home[c].bytes + traffic.to_home[c].bytes;
      }
    for (std::size_t i = 2; i < machine.nodes.size(); ++i)
      result.evictions += memory.node(static_cast<NodeId>(i)).evictions;
    result.digest = core.engine().digest().value();
    result.end_time = world.now().count();
    if (!failed_as_planned) checker.check_homes();
    if (!failed_as_planned && result.tasks_run != program.tasks.size()) return "not every task ran";
  } catch (const SystemError& error) {
    if (!options.write_backs_fail) return fmt::format("unexpected: {}", error.what());
  } catch (const std::exception& error) {
    return fmt::format("unexpected: {}", error.what());
  }
  return checker.failure;
}

}  // namespace fairlead::tests
