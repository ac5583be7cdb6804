// Simulated bytes: each block of each arena holds one number, copies carry numbers, tasks compute new ones
// from those they read. So a stale, torn or lost version shows as a wrong number, whatever the engine
// believes.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "sim/random_program.hpp"

namespace fairlead::tests {

class ValueChecker {
 public:
  ValueChecker(const RandomProgram& program, std::size_t nodes);
  void attach(engine::Engine& engine) { engine_ = &engine; }
  /// The first thing that was wrong.
  const std::optional<std::string>& failure() const { return failure_; }
  void fail(std::string what) {
    if (!failure_) failure_ = std::move(what);
  }

  void copy_starts(const memory::Copy& copy);
  void copy_ends(const memory::Copy& copy, bool succeeded);
  void task_starts(const Task& task, WorkerId worker);
  void task_ends(const Task& task, bool succeeded);
  /// All that no failed or cancelled task was to write has the value of a sequential run in its home.
  void check_homes();
  /// Tasks that started on a node while one that could have been admitted on it waited there, at most.
  std::size_t longest_passed() const { return longest_passed_; }

 private:
  struct Waiting {
    TaskId task = no_id<TaskId>;
    std::size_t passed = 0;
  };
  std::uint64_t* place(const memory::Replica& replica);
  std::uint64_t* place_for(const Task& task, std::size_t datum);
  void count_passed(WorkerId worker);

  const RandomProgram& program_;
  engine::Engine* engine_ = nullptr;
  std::vector<std::map<Bytes, std::uint64_t>> arenas_;  // by node and offset
  std::vector<std::uint64_t> home_;                     // by datum
  std::vector<int> writers_, readers_;                  // tasks that run, by datum
  std::map<const memory::Copy*, std::uint64_t> flying_;
  std::map<std::size_t, std::vector<std::uint64_t>> inputs_;  // by task
  std::vector<Waiting> waiting_;                              // by worker: what is first in its pipeline
  std::size_t longest_passed_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace fairlead::tests
