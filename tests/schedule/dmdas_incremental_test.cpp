// DMDAS with incremental counts of missing bytes decides as the naive version, for any sequence of events.
#include <set>
#include <string>

#include "at_length.hpp"
#include "schedule/naive_dmdas.hpp"
#include "schedule/policies.hpp"
#include "schedule/twins.hpp"

namespace fairlead::schedule {

struct DmdasTwins : Twins {
  explicit DmdasTwins(std::uint64_t seed)
      : Twins(seed, 1 + static_cast<unsigned>(seed % 2),
              (1 + static_cast<unsigned>(seed % 2)) * (1 + static_cast<unsigned>(seed / 2 % 2)), 14),
        hot(seed % 3 == 0),
        dmdas(make_policy(seed % 5 < 2 ? "dmdas:ready=first" : "dmdas")),
        naive(seed % 5 < 2) {
    for (FakeWorld* world : {&a, &b}) {
      for (int i = 0; i < data; ++i) world->sizes[std::to_string(i)] = static_cast<Bytes>(1 + i % 3);
      world->in_place(std::to_string(data - 1), node(0));
    }
    a.attach(*dmdas);
    b.attach(naive);
  }
  void ready() {
    Spec spec = some_task(static_cast<int>(random.between(0, 4)), 3);
    if (hot && std::ranges::count(spec.reads, "0") + std::ranges::count(spec.updates, "0") == 0)
      spec.reads.push_back("0");
    Twins::ready(spec);
  }
  /// A datum arrives, is dropped, or is written back: then it vanishes later without a notification, or stays.
  void move() {
    const NodeId at = node(static_cast<unsigned>(random.below(nodes)));
    const std::string name =
        std::to_string(hot && random.once_in(3) ? 0 : random.below(static_cast<std::uint64_t>(data - 1)));
    for (FakeWorld* world : {&a, &b}) switch (world->residency(world->datum(name), at)) {
        case ReplicaState::absent:
          world->load(name, at);
          break;
        case ReplicaState::evicting:
          tasks % 2 == 0 ? world->gone(name, at) : world->stays(name, at);
          break;
        default:
          tasks % 3 == 0 ? world->drop(name, at) : world->leave(name, at);
      }
  }
  /// Time passes, and an admitted task starts.
  void start_one() {
    a.now_ms = b.now_ms += 0.5;
    if (held.empty()) return;
    const Held& task = held[random.below(held.size())];
    if (!task.admitted || !running.insert(task.name).second) return;
    a.start(task.name, task.by);
    b.start(task.name, task.by);
  }
  /// A worker is lost: its tasks move to other workers, or wait where no worker takes them.
  void lose_one() {
    if (lost || workers == 1) return;
    lost = true;
    dmdas->worker_lost(worker(workers - 1));
    naive.worker_lost(worker(workers - 1));
  }

  bool hot;                       // one datum is read by all tasks
  std::set<std::string> running;  // and those that ran
  std::unique_ptr<Policy> dmdas;
  NaiveDmdas naive;
  bool lost = false;
};

TEST(DmdasIncremental, DecidesAsTheNaiveVersionAfterAnySequenceOfEvents) {
  for (std::uint64_t seed = 1; seed <= (tests::many_cases() ? 150 : 50); ++seed) {
    SCOPED_TRACE(seed);
    DmdasTwins twins(seed);
    // Queues grow, then shrink: a datum that all read is scanned first, and counted later.
    for (int step = 0; step < 600; ++step) {
      SCOPED_TRACE(step);
      const std::uint64_t what = twins.random.below(10);
      if (step == 400) twins.lose_one();
      if (step % 4 == 0) twins.start_one();
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
