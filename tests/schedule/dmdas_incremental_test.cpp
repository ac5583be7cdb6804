// DMDAS that keeps count of missing bytes decides as the one that asks every task, whatever happens in
// between.
#include "schedule/dmda.hpp"
#include "schedule/fake_world.hpp"
#include "schedule/naive_dmdas.hpp"

namespace fairlead::schedule {

struct DmdasTwins {
  explicit DmdasTwins(std::uint64_t seed)
      : random(seed),
        nodes(1 + static_cast<unsigned>(seed % 2)),
        workers(nodes * (1 + seed / 2 % 2)),
        hot(seed % 3 == 0),
        dmdas(make_dmdas()),
        a(nodes, workers / nodes),
        b(nodes, workers / nodes) {
    for (FakeWorld* world : {&a, &b}) {
      world->from_host_ms = 2;
      // All data are known from the start: names get the same ids in both worlds.
      for (int i = 0; i < data; ++i) {
        world->datum(std::to_string(i));
        world->sizes[std::to_string(i)] = static_cast<Bytes>(1 + i % 3);
      }
      world->in_place(std::to_string(data - 1), node(0));
    }
    a.attach(*dmdas);
    b.attach(naive);
  }
  static constexpr int data = 14;

  void ready() {
    Spec spec{"T" + std::to_string(tasks++), {}};
    const int inputs = static_cast<int>(random.between(0, 4));
    const int first = static_cast<int>(random.below(data));
    for (int i = 0; i < inputs; ++i) {
      const std::string name = std::to_string((first + i * (1 + tasks % 3)) % data);
      (i == 0 && random.once_in(3) ? spec.updates : spec.reads).push_back(name);
    }
    if (hot && std::ranges::count(spec.reads, "0") + std::ranges::count(spec.updates, "0") == 0)
      spec.reads.push_back("0");
    spec.ms = static_cast<double>(random.between(1, 3));
    spec.priority = static_cast<int>(random.below(4));
    if (workers > 1 && random.once_in(5)) {
      const auto only = static_cast<unsigned>(random.below(workers));
      a.only_workers[spec.name] = b.only_workers[spec.name] = {only};
    }
    a.ready(spec);
    b.ready(spec);
  }
  void pick() {
    const auto by = static_cast<unsigned>(random.below(workers));
    const std::string expected = b.pick(by), got = a.pick(by);
    ASSERT_EQ(got, expected);
    if (got != "-") held.push_back({got, by, false});
  }
  void change_one_held() {
    if (held.empty()) return;
    const std::size_t i = random.below(held.size());
    Held& task = held[i];
    if (!task.admitted && !random.once_in(4)) {
      a.admit(task.name);
      b.admit(task.name);
      task.admitted = true;
      return;
    }
    for (FakeWorld* world : {&a, &b})
      task.admitted ? world->finish(task.name, task.by) : world->give_back(task.name);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// A datum comes, goes, or is written home: then it is gone later, of which nobody tells, or stays after
  /// all.
  void move() {
    const NodeId at = node(static_cast<unsigned>(random.below(nodes)));
    const std::string name = std::to_string(hot && random.once_in(3) ? 0 : random.below(data - 1));
    for (FakeWorld* world : {&a, &b}) switch (world->residency(world->datum(name), at)) {
        case ReplicaState::absent:
          world->load(name, at);
          break;
        case ReplicaState::leaving:
          tasks % 2 == 0 ? world->gone(name, at) : world->stays(name, at);
          break;
        default:
          tasks % 3 == 0 ? world->drop(name, at) : world->leave(name, at);
      }
  }
  /// A worker is lost for good: its tasks find others, or wait where nobody looks.
  void lose_one() {
    if (lost || workers == 1) return;
    lost = true;
    dmdas->worker_lost(worker(workers - 1));
    naive.worker_lost(worker(workers - 1));
  }

  struct Held {
    std::string name;
    unsigned by;
    bool admitted;
  };
  Random random;
  unsigned nodes, workers;
  bool hot;  // one datum is read by all tasks
  std::unique_ptr<Policy> dmdas;
  NaiveDmdas naive;
  FakeWorld a, b;
  int tasks = 0;
  bool lost = false;
  std::vector<Held> held;
};

TEST(DmdasIncremental, DecidesAsTheOneThatAsksAllAfterAnySequenceOfEvents) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    DmdasTwins twins(seed);
    // Queues grow long, then short: a datum that all read is looked through first, and counted later.
    for (int step = 0; step < 600; ++step) {
      SCOPED_TRACE(step);
      const std::uint64_t what = twins.random.below(10);
      if (step == 400) twins.lose_one();
      if (what < 3)
        twins.move();
      else if (what < 5)
        twins.change_one_held();
      else if (what < (step < 300 ? 9u : 6u))
        twins.ready();
      else
        twins.pick();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace fairlead::schedule
