// Concise test scenarios: a small simulated machine, named data, tasks that read and write them, and the
// outcome. Values are tracked: a task that reads anything but the newest version fails the test.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "engine/runtime_core.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {

constexpr Bytes operator""_MiB(unsigned long long n) { return n << 20; }

enum class Place {
  on_disk,
  in_user_memory,
  generated,  // on disk after its first write; without a replica before
};
/// Machines have a link for generated data: see add_generator().
class NoGenerator final : public data::Generator {
 public:
  void make(std::byte*, Bytes, Bytes) const override {}
};
struct NamedDatum {
  std::string name;
  Bytes bytes;
  Place place = Place::on_disk;
};

struct Uses {
  std::vector<std::pair<std::string, AccessMode>> list;
  friend Uses operator+(Uses a, const Uses& b) {
    a.list.insert(a.list.end(), b.list.begin(), b.list.end());
    return a;
  }
};
template <class... Names>
Uses use(AccessMode mode, const Names&... names) {
  return {{std::pair<std::string, AccessMode>{names, mode}...}};
}
template <class... Names>
Uses reads(const Names&... names) {
  return use(AccessMode::read, names...);
}
template <class... Names>
Uses writes(const Names&... names) {
  return use(AccessMode::write, names...);
}
template <class... Names>
Uses updates(const Names&... names) {
  return use(AccessMode::read_write, names...);
}
template <class... Names>
Uses adds_to(const Names&... names) {
  return use(AccessMode::commutative, names...);
}

/// The outcome of a task, or that it has not finished.
enum class Ending { none, done, failed, cancelled };

/// A machine that is being described. Nodes: 0 user memory, 1 disk, 2... the devices; device 0 reaches user
/// memory.
struct Machine {
  Topology topology;
  std::string policy = "eager";
  std::size_t depth = 0;
  std::function<bool(const memory::Copy&)> copy_fails, copy_hangs;

  static NodeId device(std::size_t i) { return static_cast<NodeId>(2 + i); }
  /// Tasks can be put on device i by its kind of worker.
  static WorkerKind kind(std::size_t device) { return static_cast<WorkerKind>(device); }

  Machine& workers(std::size_t count) {  // on device 0, instead of one
    while (count-- > 1) topology.workers.push_back({kind(0), device(0)});
    return *this;
  }
  Machine& pipelines_of(std::size_t tasks) { return depth = tasks, *this; }
  Machine& scheduled_by(std::string name) { return policy = std::move(name), *this; }
  Machine& slow(NodeId a, NodeId b, double bytes_per_second) {
    topology.links[index(topology.link_between(a, b))].bytes_per_second = bytes_per_second;
    return *this;
  }
  Machine& where_copies_fail(std::function<bool(const memory::Copy&)> fails) {
    return copy_fails = std::move(fails), *this;
  }
  Machine& where_copies_hang(std::function<bool(const memory::Copy&)> hangs) {
    return copy_hangs = std::move(hangs), *this;
  }
  class World with_data(std::vector<NamedDatum> data);
};

inline Machine devices(std::initializer_list<Bytes> capacities) {
  Machine machine;
  Topology& t = machine.topology;
  t.nodes = {{.name = "user memory", .role = NodeRole::home}, {.name = "disk", .role = NodeRole::home}};
  const NodeId user{0}, disk{1};
  for (const Bytes capacity : capacities) {
    const std::size_t i = t.nodes.size() - 2;
    NodeSpec node{.name = "device " + std::to_string(i), .role = NodeRole::cache, .capacity = capacity};
    if (i == 0) node.directly_accessible_homes = {user};
    t.nodes.push_back(node);
    t.workers.push_back({Machine::kind(i), Machine::device(i)});
    for (std::size_t other = 0; other < t.nodes.size() - 1; ++other)
      t.links.push_back({.name = "link", .first = static_cast<NodeId>(other), .second = Machine::device(i)});
  }
  t.links.push_back({.name = "link", .first = user, .second = disk});
  return machine;
}
inline Machine one_device(Bytes capacity) { return devices({capacity}); }

class World {
 public:
  using TaskNumber = std::size_t;
  using Condition = std::function<bool(const World&)>;
  struct CopyEvent {
    std::string datum;
    NodeId from, to;
    memory::Cause cause;
    enum { started, landed, failed } what;
  };

  World(const Machine& machine, const std::vector<NamedDatum>& data)
      : sim_(sim_options(machine)), core_(core_options(machine), sim_) {
    for (const NamedDatum& named : data) {
      auto& datum = data_[named.name];
      core_.register_datum(datum, {.bytes = named.bytes,
                                   .home = NodeId(named.place == Place::in_user_memory ? 0 : 1),
                                   .generator = named.place == Place::generated ? &generator_ : nullptr});
      names_.push_back(named.name);
    }
    newest_.resize(names_.size());
    for (const NamedDatum& named : data) at_home_.push_back(named.place == Place::generated ? -1 : 0);
    flows_.push_back(std::make_unique<Source>(*this));
    for (std::uint32_t k = 0; k < codelets_.size(); ++k) codelets_[k].kinds = k;
  }

  /// A task of the first flow, or of another; on any device, or on one; on one worker, or on several at once.
  TaskNumber submit(const Uses& uses, std::size_t device = 0, std::size_t flow = 0, Workers workers = 1) {
    while (flows_.size() <= flow) flows_.push_back(std::make_unique<Source>(*this));
    Task* task = core_.graph().make_task(uses.list.size());
    task->codelet = &codelets_[1u << device];
    task->family = &flows_[flow]->described;
    task->workers_wanted =
        workers.count() == 1 ? std::uint16_t{0} : static_cast<std::uint16_t>(workers.count());
    std::vector<graph::Insertion> insertions;
    for (const auto& [name, mode] : uses.list)
      insertions.push_back({&data_.at(name).tail, data_.at(name).id, mode});
    endings_.push_back(Ending::none);
    started_at_.push_back(Time{-1});
    if (core_.graph().insert(*task, insertions)) {
      task->kind = EventKind::task_ready;
      EventChain chain;
      chain.append(*task);
      core_.application().add(chain);
      core_.application().serve();
    }
    return endings_.size() - 1;
  }
  TaskNumber submit_wide(const Uses& uses, Workers workers, std::size_t flow = 0) {
    return submit(uses, 0, flow, workers);
  }
  void cancel(std::size_t flow = 0) { core_.engine().cancel(*flows_[flow]); }
  void stop(std::exception_ptr why) { core_.engine().stop(std::move(why)); }
  void fail(TaskNumber task) { failing_.push_back(task); }
  void hang(TaskNumber task) { hanging_.push_back(task); }
  /// The worker of a device becomes unavailable, as when it is lost.
  void lose_worker(WorkerId worker) {
    lost_.kind = EventKind::worker_unavailable;
    lost_.worker = worker;
    lost_.at = now();
    core_.application().add(lost_);
    core_.application().serve();
  }
  /// The status report after no event is left and `later` has passed.
  engine::StatusReport situation_when_stalled(Duration later) {
    try {
      run();
      ADD_FAILURE() << "nothing is stalled";
    } catch (const Error&) {
    }
    return core_.engine().situation({.datum = [this](DatumId id) { return names_[index(id)]; },
                                     .in_body = [](WorkerId) { return false; },
                                     .now = now() + later});
  }
  void run_until(const Condition& condition) {
    core_.wait_until([&] { return condition(*this); });
  }
  /// Runs until every task has finished and no copy is in flight.
  void run() {
    core_.wait_until([this] { return over_ == endings_.size() && core_.engine().idle(); });
    core_.engine().memory().check(true);
  }
  void flush() { core_.home_values().flush(); }
  void remove(const std::string& name) { core_.remove_datum(data_.at(name)); }

  Ending ending(TaskNumber task) const { return endings_[task]; }
  bool started(TaskNumber task) const { return started_at_[task].count() >= 0; }
  Time started_at(TaskNumber task) const { return started_at_[task]; }
  const std::vector<TaskNumber>& starts() const { return starts_; }
  const std::string& error_of(TaskNumber task) const { return errors_.at(task); }
  const std::vector<CopyEvent>& copies() const { return copies_; }
  Bytes bytes_moved(const std::string& name) const { return landed(name) * bytes(name); }
  std::size_t landed(const std::string& name, NodeId to = no_id<NodeId>) const {
    std::size_t count = 0;
    for (const CopyEvent& copy : copies_)
      count += copy.datum == name && copy.what == CopyEvent::landed && (to == no_id<NodeId> || copy.to == to);
    return count;
  }
  Bytes bytes(const std::string& name) const { return data_.at(name).bytes; }
  memory::Memory& memory() { return core_.engine().memory(); }
  const memory::Memory& memory() const { return core_.engine().memory(); }
  const memory::MemoryNode& device(std::size_t i) const { return memory().node(Machine::device(i)); }
  ReplicaState residency(const std::string& name, std::size_t device = 0) const {
    return memory().residency(data_.at(name).id, Machine::device(device));
  }
  /// The newest value is in the datum's home.
  bool safe_at_home(const std::string& name) const {
    const auto id = data_.at(name).id;
    return at_home_[index(id)] == newest_[index(id)] && !memory().datum(id).dirty();
  }
  engine::RuntimeCore& core() { return core_; }
  Time now() { return sim_.now(); }

 private:
  struct Source final : TaskSource {
    explicit Source(World& w) : world(w) { id = w.core_.sources().next_id(); }
    void release(Task& task, ReadyTasks& ready) override {
      world.over(task);
      graph::DependencyGraph::complete(task, ready.described, ready.recycler);
    }
    World& world;
  };

  backend::SimOptions sim_options(const Machine& machine) {
    backend::SimOptions options;
    options.most_events = 100'000;
    options.duration = [](const Task&, WorkerId) { return Duration(100'000); };
    options.copy_fails = machine.copy_fails;
    options.copy_hangs = machine.copy_hangs;
    options.task_hangs = [this](const Task& task) {
      return std::ranges::find(hanging_, index(task.id)) != hanging_.end();
    };
    options.task_fails = [this](const Task& task) {
      return std::ranges::find(failing_, index(task.id)) != failing_.end();
    };
    options.on_copy_start = [this](const memory::Copy& copy) {
      flying_[&copy] = copy.generator != nullptr ? 0 : place(*copy.from);
      note(copy, CopyEvent::started);
    };
    options.on_copy = [this](const memory::Copy& copy, bool succeeded) {
      place(*copy.to) = succeeded ? flying_[&copy] : -1;
      if (copy.via != nullptr) place(*copy.via) = place(*copy.to);
      note(copy, succeeded ? CopyEvent::landed : CopyEvent::failed);
    };
    options.on_start = [this](Task& task, WorkerId) { starts(task); };
    options.on_end = [this](Task& task, WorkerId, bool succeeded) {
      for (const Access& access : task.accesses())
        if (fairlead::writes(access.mode))
          place(replica(task, access)) = succeeded ? ++newest_[index(access.datum)] : -1;
    };
    return options;
  }
  static engine::CoreOptions core_options(const Machine& machine) {
    engine::CoreOptions options{
        .topology = machine.topology, .policy = schedule::make_policy(machine.policy), .engine = {}};
    options.engine.check_invariants = true;
    options.engine.pipeline_depth = machine.depth;
    return options;
  }
  void note(const memory::Copy& copy, decltype(CopyEvent::what) what) {
    copies_.push_back({names_[index(copy.datum)], copy.from->node, copy.to->node, copy.cause, what});
  }
  void starts(const Task& task) {
    started_at_[index(task.id)] = sim_.now();
    starts_.push_back(index(task.id));
    for (const Access& access : task.accesses())
      if (fairlead::reads(access.mode)) {
        EXPECT_EQ(place(replica(task, access)), newest_[index(access.datum)])
            << "task " << index(task.id) << " reads an old version of " << names_[index(access.datum)];
      }
  }
  void over(const Task& task) {
    ++over_;
    Ending& ending = endings_[index(task.id)];
    ending = task.failure != nullptr ? Ending::failed : task.cancelled ? Ending::cancelled : Ending::done;
    if (task.failure == nullptr) return;
    try {
      std::rethrow_exception(task.failure);
    } catch (const std::exception& error) {
      errors_[index(task.id)] = error.what();
    }
  }
  const memory::Replica& replica(const Task& task, const Access& access) const {
    const memory::Datum& datum = memory().datum(access.datum);
    if (memory().reaches(task.node, datum.home.node)) return datum.home;
    const memory::Replica* found = datum.cached;
    while (found->node != task.node) found = found->next_of_datum;
    return *found;
  }
  int& place(const memory::Replica& replica) {
    if (index(replica.node) < 2) return at_home_[index(replica.datum)];
    return blocks_[{index(replica.node), replica.block->offset}];
  }

  // The content of each place: the number of the write of its datum; -1: undefined.
  std::vector<int> newest_, at_home_;
  std::map<std::pair<std::size_t, Bytes>, int> blocks_;
  std::map<const memory::Copy*, int> flying_;
  std::vector<TaskNumber> failing_, hanging_, starts_;
  Event lost_;
  const NoGenerator generator_;
  std::vector<CopyEvent> copies_;
  std::vector<Ending> endings_;
  std::vector<Time> started_at_;
  std::map<TaskNumber, std::string> errors_;
  std::size_t over_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, engine::RegisteredDatum> data_;
  std::array<CodeletInfo, 16> codelets_;
  std::vector<std::unique_ptr<Source>> flows_;
  backend::SimWorld sim_;
  engine::RuntimeCore core_;
};

inline World Machine::with_data(std::vector<NamedDatum> data) { return World(*this, data); }

inline World::Condition copy_started(std::string name, NodeId to = no_id<NodeId>) {
  return [=](const World& world) {
    for (const World::CopyEvent& copy : world.copies())
      if (copy.datum == name && (to == no_id<NodeId> || copy.to == to)) return true;
    return false;
  };
}
inline World::Condition task_started(World::TaskNumber task) {
  return [=](const World& world) { return world.started(task); };
}
inline World::Condition task_over(World::TaskNumber task) {
  return [=](const World& world) { return world.ending(task) != Ending::none; };
}
/// Over a link, from home or back.
inline Bytes crossed(const World& world, const std::string& wire, bool away_from_home) {
  const auto& links = world.memory().topology().links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].name != wire) continue;
    Bytes bytes = 0;
    const memory::LinkTraffic& traffic = world.memory().transfers().traffic()[i];
    for (const auto& count : away_from_home ? traffic.from_home : traffic.to_home) bytes += count.bytes;
    return bytes;
  }
  ADD_FAILURE() << "no wire " << wire;
  return 0;
}

}  // namespace fairlead::tests
