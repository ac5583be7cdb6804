// The incremental DARTS decides as the literal one, for any sequence of events.
#include "schedule/darts/darts.hpp"
#include "schedule/darts/naive_darts.hpp"
#include "schedule/twins.hpp"

namespace fairlead::schedule {

struct DartsTwins : Twins {
  explicit DartsTwins(std::uint64_t seed, int number_of_data = 12)
      : Twins(seed, 1 + static_cast<unsigned>(seed % 3), 1 + static_cast<unsigned>(seed % 3),
              number_of_data) {
    a.from_peer_ms = b.from_peer_ms = seed % 2 == 0 ? 0 : 0.5;
    a.attach(darts);
    b.attach(naive);
  }
  /// Evicts a datum that no admitted task uses.
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

  /// upcoming() names what planned tasks use and the node has no space for, in their order: it is kept
  /// between events, and must equal a traversal of the plan.
  void expect_upcoming() {
    for (unsigned at = 0; at < nodes; ++at) {
      std::vector<const Task*> plan;
      darts.planned(node(at), plan);
      std::vector<DatumId> lacked;
      for (const Task* task : plan)
        for (const Access& access : task->accesses())
          if (a.residency(access.datum, node(at)) == ReplicaState::absent &&
              std::ranges::find(lacked, access.datum) == lacked.end())
            lacked.push_back(access.datum);
      for (const std::size_t asked : {std::size_t{1}, std::size_t{4}}) {
        std::vector<DatumId> out(asked);
        out.resize(darts.upcoming(worker(at), out));
        EXPECT_EQ(out, std::vector(lacked.begin(), lacked.begin() + static_cast<std::ptrdiff_t>(
                                                                        std::min(asked, lacked.size()))));
      }
    }
  }

  Darts darts{{.prefetch = DartsPrefetch::planned}};
  NaiveDarts naive;
};

void expect_the_same(DartsTwins& twins, int steps) {
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    switch (twins.random.below(7)) {
      case 0:
      case 1:
        twins.ready(twins.some_task(static_cast<int>(twins.random.between(0, twins.data / 3)), 2));
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
    twins.expect_upcoming();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DartsIncremental, DecidesAsTheLiteralAlgorithmAfterAnySequenceOfEvents) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    DartsTwins twins(seed);
    expect_the_same(twins, 400);
    if (HasFatalFailure()) return;
  }
}

// More inputs than there are bits for what is missing, and than the lists of users have numbers for.
TEST(DartsIncremental, DecidesAsTheLiteralAlgorithmWithHundredsOfInputsPerTask) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    DartsTwins twins(seed, seed % 2 == 0 ? 900 : 120);
    expect_the_same(twins, 120);
    if (HasFatalFailure()) return;
  }
}

}  // namespace fairlead::schedule
