// The incremental DARTS decides as the literal one does, whatever happens in between.
#include "schedule/darts/darts.hpp"
#include "schedule/fake_world.hpp"
#include "schedule/naive_darts.hpp"

namespace fairlead::schedule {

struct Twins {
  explicit Twins(std::uint64_t seed, int number_of_data = 12)
      : random(seed), nodes(1 + static_cast<unsigned>(seed % 3)), data(number_of_data), a(nodes), b(nodes) {
    for (FakeWorld* world : {&a, &b}) {
      world->from_host_ms = 2;
      world->from_peer_ms = seed % 2 == 0 ? 0 : 0.5;
      // All data are known from the start: names get the same ids in both worlds.
      for (int i = 0; i < data; ++i) world->datum(std::to_string(i));
    }
    a.attach(darts);
    b.attach(naive);
  }
  void ready() {
    Spec spec{"T" + std::to_string(tasks++), {}};
    const int inputs = static_cast<int>(random.between(0, data / 3));
    const int first = static_cast<int>(random.below(static_cast<std::uint64_t>(data)));
    for (int i = 0; i < inputs; ++i) {
      const std::string name = std::to_string((first + i * (1 + tasks % 3)) % data);
      (i == 0 && random.once_in(2) ? spec.updates : spec.reads).push_back(name);
    }
    spec.ms = static_cast<double>(random.between(1, 3));
    spec.priority = static_cast<int>(random.below(4));
    if (nodes > 1 && random.once_in(5)) {
      const unsigned only = static_cast<unsigned>(random.below(nodes));
      a.only_workers[spec.name] = b.only_workers[spec.name] = {only};
    }
    a.ready(spec);
    b.ready(spec);
  }
  void pick() {
    const auto by = static_cast<unsigned>(random.below(nodes));
    const std::string expected = b.pick(by), got = a.pick(by);
    ASSERT_EQ(got, expected);
    if (got != "-") held.push_back({got, by, false});
  }
  void change_one_held() {
    if (held.empty()) return;
    const std::size_t i = random.below(held.size());
    auto& task = held[i];
    if (!task.admitted && random.once_in(4)) {
      a.give_back(task.name);
      b.give_back(task.name);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (!task.admitted) {
      a.admit(task.name);
      b.admit(task.name);
      task.admitted = true;
    } else {
      a.finish(task.name, task.by);
      b.finish(task.name, task.by);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  /// Something that no admitted task uses leaves.
  void drop() {
    const auto at = static_cast<unsigned>(random.below(nodes));
    const std::string name = std::to_string(random.below(static_cast<std::uint64_t>(data)));
    if (a.residency(a.datum(name), node(at)) == ReplicaState::absent) return;
    for (const auto& task : held) {
      if (!task.admitted || task.by != at) continue;
      for (const Access& access : a.task(task.name).accesses())
        if (access.datum == a.datum(name)) return;
    }
    a.drop(name, node(at));
    b.drop(name, node(at));
  }

  struct Held {
    std::string name;
    unsigned by;
    bool admitted;
  };
  Random random;
  unsigned nodes;
  int data;
  Darts darts;
  NaiveDarts naive;
  FakeWorld a, b;
  int tasks = 0;
  std::vector<Held> held;
};

void expect_the_same(Twins& twins, int steps) {
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    switch (twins.random.below(7)) {
      case 0:
      case 1:
        twins.ready();
        break;
      case 2:
        twins.drop();
        break;
      case 3:
      case 4:
        twins.change_one_held();
        break;
      default:
        twins.pick();
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DartsIncremental, DecidesAsTheLiteralAlgorithmAfterAnySequenceOfEvents) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    Twins twins(seed);
    expect_the_same(twins, 400);
    if (HasFatalFailure()) return;
  }
}

// More inputs than there are bits for what is missing, and than the lists of users have numbers for.
TEST(DartsIncremental, DecidesAsTheLiteralAlgorithmWithHundredsOfInputsPerTask) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Twins twins(seed, seed % 2 == 0 ? 900 : 120);
    expect_the_same(twins, 120);
    if (HasFatalFailure()) return;
  }
}

}  // namespace fairlead::schedule
