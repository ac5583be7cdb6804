// Bottom levels inside the window, against the longest path found by trying all paths.
#include "schedule/index/bottom_levels.hpp"

#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct BottomLevelsTest : testing::Test {
  FakeWorld world{1, 2};
  BottomLevels levels;
  std::vector<Task*> unfinished;  // in program order

  void SetUp() override { levels.attach(world); }

  Task& submit(const Spec& spec) {
    Task& task = world.submit(spec);
    unfinished.push_back(&task);
    levels.submitted(task);
    return task;
  }
  void over(Task& task) {
    std::erase(unfinished, &task);
    levels.task_finished(task);
  }
  static bool depends(const Task& later, const Task& earlier) {
    for (const Access& a : later.accesses())
      for (const Access& b : earlier.accesses())
        if (a.datum == b.datum && (writes(a.mode) || writes(b.mode))) return true;
    return false;
  }
  std::int64_t longest_path(std::size_t from) const {
    std::int64_t after = 0;
    for (std::size_t next = from + 1; next < unfinished.size(); ++next)
      if (depends(*unfinished[next], *unfinished[from])) after = std::max(after, longest_path(next));
    return after + world.estimate(*unfinished[from], worker(0)).count();
  }
};

// Random programs over few data; now and then a task that nothing unfinished precedes finishes.
TEST_F(BottomLevelsTest, AreTheLongestPathsThroughUnfinishedTasks) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const int tasks = static_cast<int>(random.between(1, 6));
    for (int i = 0; i < tasks; ++i) {
      Spec spec{"T" + std::to_string(round) + "." + std::to_string(i), {}};
      const std::size_t first = random.below(7);
      for (std::size_t k = 0; k < 3; ++k) {
        const std::string name = "D" + std::to_string((first + k * 2) % 7);
        switch (random.below(4)) {
          case 0:
            spec.updates.push_back(name);
            break;
          case 1:
            spec.writes.push_back(name);
            break;
          default:
            spec.reads.push_back(name);
        }
      }
      spec.ms = static_cast<double>(random.between(1, 9));
      submit(spec);
    }
    levels.horizon_closed();
    for (std::size_t i = 0; i < unfinished.size(); ++i)
      ASSERT_EQ(levels.level(unfinished[i]->id), longest_path(i)) << "round " << round << ", task " << i;
    while (unfinished.size() > 8) {
      const std::size_t i = random.below(unfinished.size());
      bool first = true;
      for (std::size_t before = 0; before < i; ++before)
        first = first && !depends(*unfinished[i], *unfinished[before]);
      if (first) over(*unfinished[i]);
    }
  }
}

// For a chain of 1 ms tasks: first after 64 tasks, then after each further quarter.
TEST_F(BottomLevelsTest, AreRecomputedWhenAQuarterOfTheWindowIsNew) {
  for (int i = 0; i < 63; ++i) submit({"T" + std::to_string(i), {}, 1, 0, {"A"}});
  EXPECT_EQ(levels.level(TaskId{0}), ms(1).count());
  submit({"T63", {}, 1, 0, {"A"}});
  EXPECT_EQ(levels.level(TaskId{0}), ms(64).count());
  std::uint64_t computed = levels.version();
  for (int i = 64; i < 10'000; ++i) submit({"T" + std::to_string(i), {}, 1, 0, {"A"}});
  EXPECT_GE(levels.level(TaskId{0}), ms(7'500).count());
  EXPECT_LT(levels.version() - computed, 30u);  // log 156 / log 4/3 is 18
}

// 3 ms of work, on a device five times slower or a core twice slower.
TEST(BottomLevels, CountTheKindOfWorkerThatIsFastestAmongThoseThatCanRunTheTask) {
  FakeWorld world(2);
  world.kind(1, WorkerKind::cpu);
  world.times_slower = {{0, 5}, {1, 2}};
  world.only_workers["device only"] = {0};
  BottomLevels levels;
  levels.attach(world);
  Task &any = world.submit({"any", {}, 3}), &device_only = world.submit({"device only", {}, 3});
  levels.submitted(any);
  levels.submitted(device_only);
  EXPECT_EQ(levels.level(any.id), ms(6).count());
  EXPECT_EQ(levels.level(device_only.id), ms(15).count());
}

}  // namespace fairlead::schedule
