// The engine chooses among several implementations: for each footprint and kind of worker, as durations
// change, starting with the results of earlier runs, and again the same from its log.
#include "whole/choice/simulated.hpp"

#include "base/random.hpp"

namespace fairlead::tests {

namespace {

constexpr Bytes small = 4096, large = 1 << 20;
const CodeletInfo gemm = codelet_for(WorkerKind::cpu, {"blas", "small"});

/// "small" is the faster one for small tasks.
std::int64_t by_size(unsigned implementation, Bytes bytes, WorkerKind) {
  if (bytes == small) return implementation == 0 ? 50 * us : 10 * us;
  return implementation == 0 ? 400 * us : 3 * ms;
}

}  // namespace

TEST(Choice, TriesEachAndSelectsTheFastestForEachFootprint) {
  Simulated machine({.workers = 2}, by_size);
  for (const Bytes bytes : {small, large}) {
    const auto first = machine.run(gemm, bytes, 60);
    EXPECT_GE(first[0], 5);
    EXPECT_GE(first[1], 5);
    const std::size_t fastest = bytes == small ? 1 : 0;
    EXPECT_GE(machine.run(gemm, bytes, 300)[fastest], 295);
  }
  EXPECT_GE(machine.run(gemm, small, 300)[1], 295);
}

TEST(Choice, IsTheEstimateOfPolicies) {
  Simulated machine({}, by_size);
  machine.run(gemm, small, 60);
  machine.run(gemm, large, 60);
  Task task;
  task.codelet = &gemm;
  Access access;
  access.datum = DatumId{0};
  task.accesses_begin = &access;
  task.access_count = 1;
  machine.engine().locked([&](memory::Memory&) {
    const View& view = machine.engine().view();
    EXPECT_TRUE(view.is_estimate_reliable(task, WorkerId{0}));
    EXPECT_EQ(view.estimate(task, WorkerId{0}).count(), 10 * us);
    access.datum = DatumId{1};
    EXPECT_EQ(view.estimate(task, WorkerId{0}).count(), 400 * us);
  });
}

TEST(Choice, ChangesAfterALastingSlowdown) {
  bool throttled = false;
  Simulated machine({.workers = 2}, [&](unsigned implementation, Bytes bytes, WorkerKind kind) {
    return by_size(implementation, bytes, kind) * (throttled && implementation == 1 ? 20 : 1);
  });
  machine.run(gemm, small, 60);
  EXPECT_GE(machine.run(gemm, small, 300)[1], 295);
  throttled = true;
  EXPECT_GE(machine.run(gemm, small, 300)[0], 200);
  EXPECT_GE(machine.run(gemm, small, 300)[0], 295);
  throttled = false;  // trial runs detect it
  machine.run(gemm, small, 3000);
  EXPECT_GE(machine.run(gemm, small, 300)[1], 280);
}

TEST(Choice, StartsWithTheResultsOfAnotherRun) {
  Simulated first({}, by_size);
  first.run(gemm, small, 60);
  const auto kept =
      first.engine().locked([&](memory::Memory&) { return first.engine().durations().learned(); });
  Simulated second({.kept = kept}, by_size);
  EXPECT_EQ(second.run(gemm, small, 60)[1], 60);
  EXPECT_EQ(second.replay().digest, second.engine().journal().digest().value());
}

// On cores "blas" is faster, on the accelerator the other one.
TEST(Choice, DiffersByKindOfWorker) {
  CodeletInfo both = gemm;
  for (const char* name : {"blas", "small"})
    both.implement(WorkerKind::emulated, {nullptr, nullptr, false, name});
  for (const char* policy : {"eager", "dmda"}) {
    std::array<std::array<int, 2>, 2> ran{};
    Simulated machine({.policy = policy, .with_device = true},
                      [&](unsigned implementation, Bytes, WorkerKind kind) {
                        const bool device = kind == WorkerKind::emulated;
                        ++ran[device][implementation];
                        return (device == (implementation == 1) ? 100 : 900) * us;
                      });
    machine.run(both, small, 100);
    ran = {};
    machine.run(both, small, 300);
    EXPECT_LE(ran[0][1] + ran[1][0], 12) << policy;
    EXPECT_GE(ran[0][0], 50) << policy;
    EXPECT_GE(ran[1][1], 50) << policy;
  }
}

TEST(Choice, IsMadeForTasksOverSeveralWorkers) {
  Simulated machine({.workers = 4}, by_size);
  machine.run(gemm, large, 60, true, 4);
  EXPECT_GE(machine.run(gemm, large, 200, true, 4)[0], 195);
  const auto replayed = machine.replay();
  EXPECT_EQ(replayed.fatal, nullptr);
  EXPECT_EQ(replayed.digest, machine.engine().journal().digest().value());
}

// The same commands from the log alone: the choice is part of them.
TEST(Choice, IsTheSameInAReplay) {
  const CodeletInfo three = codelet_for(WorkerKind::cpu, {"blas", "small", ""});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const std::int64_t slow = random.between(1, 40);
    Simulated machine({.workers = 3, .policy = seed % 2 == 0 ? "dmda" : "lws"},
                      [&](unsigned implementation, Bytes bytes, WorkerKind) {
                        const auto size = static_cast<std::int64_t>(bytes);
                        return (implementation == 0 ? size : size * slow / 10) +
                               random.between(1, implementation == 2 ? 100'000 : 1000);
                      });
    for (int i = 0; i < 10; ++i)
      machine.run(random.once_in(2) ? gemm : three, 4096 * (1 + random.below(5)), 60, random.once_in(2));
    const auto replayed = machine.replay();
    EXPECT_EQ(replayed.fatal, nullptr);
    EXPECT_EQ(replayed.digest, machine.engine().journal().digest().value()) << "seed " << seed;
    EXPECT_EQ(replayed.commands, machine.engine().journal().digest().count());
  }
}

}  // namespace fairlead::tests
