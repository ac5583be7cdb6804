// Policies read the distances between cores from the machine file.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "simulate/small.hpp"

namespace fairlead::simulate {
namespace {

/// First come, first served; reads all distances.
class Asks final : public Policy {
 public:
  explicit Asks(std::vector<std::vector<std::uint32_t>>& distances) : distances_(distances) {}
  void ready(Task& task, WorkerId) override { tasks_.push_back(&task); }
  Task* pick(WorkerId, bool) override {
    if (tasks_.empty()) return nullptr;
    Task* const task = tasks_.front();
    tasks_.pop_front();
    return task;
  }

 private:
  void attached() override {
    for (const WorkerInfo& a : view().workers()) {
      distances_.emplace_back();
      for (const WorkerInfo& b : view().workers()) distances_.back().push_back(view().distance(a.id, b.id));
    }
  }
  std::vector<std::vector<std::uint32_t>>& distances_;
  std::deque<Task*> tasks_;
};

std::vector<std::vector<std::uint32_t>> distances_on(const std::string& groups, std::size_t devices) {
  std::string text = machine_text(card);
  text.replace(text.find("cores = 2"), 9, "cores = 8\n" + groups);
  Small small;
  small.task(1e6F, {{small.datum(), AccessMode::read_write}});
  MachineConfig use;
  use.devices = devices;
  const SimulatedMachine machine(machine::read_machine(text, "m.toml"), use, small.program,
                                 Precision::double_);
  std::vector<std::vector<std::uint32_t>> distances;
  const SimulationResult result = simulate(small.program, machine, std::make_unique<Asks>(distances), {});
  EXPECT_EQ(result.tasks, 1u);
  return distances;
}

using Row = std::vector<std::uint32_t>;

TEST(CoreGroups, AreDistances) {
  const auto distances = distances_on("cores_together = [4, 2]", 0);
  ASSERT_EQ(distances.size(), 8u);
  EXPECT_EQ(distances[0], (Row{0, 0, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(distances[5], (Row{2, 2, 2, 2, 0, 0, 1, 1}));
}

TEST(CoreGroups, AreNoneUnlessInTheFile) { EXPECT_EQ(distances_on("", 0)[3], Row(8, 0)); }

// A device is further away than any core.
TEST(CoreGroups, LieWithinOneMemory) {
  const auto distances = distances_on("cores_together = [4, 2]", 1);
  ASSERT_EQ(distances.size(), 9u);
  EXPECT_EQ(distances[0][7], 2u);
  EXPECT_EQ(distances[0][8], View::next_node);
  EXPECT_EQ(distances[8][0], View::next_node);
}

}  // namespace
}  // namespace fairlead::simulate
