// Simulated bytes: each block of each arena holds one number, copies carry numbers, tasks compute new ones
// from those they read. So a stale, torn or lost version shows as a wrong number, whatever the engine
// believes.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "random/program.hpp"

namespace fairlead::random_runs {

class ValueChecker {
 public:
  ValueChecker(const RandomProgram& program, std::size_t nodes);
  void attach(engine::Engine& engine) { engine_ = &engine; }
  /// The first failure.
  const std::optional<std::string>& failure() const { return failure_; }
  void fail(std::string what) {
    if (!failure_) failure_ = std::move(what);
  }

  void copy_starts(const memory::Copy& copy);
  void copy_ends(const memory::Copy& copy, bool succeeded);
  /// The datum of the program is called this; partial results of reductions have ids in between.
  void registered(std::size_t planned, DatumId id) {
    std::ranges::replace(ids_, id, no_id<DatumId>);  // of a removed datum
    ids_.resize(std::max(ids_.size(), planned + 1), no_id<DatumId>);
    ids_[planned] = id;
    home(id) = program_.data[planned].initial;
    if (program_.data[planned].generated) home(id) = rubbish;  // no value at home
  }
  std::uint64_t folds() const { return folds_; }
  /// The application has acquired, and releases, a hold.
  /// Whether a task of the program has finished; used for explicitly ordered tasks.
  std::function<bool(std::size_t planned)> is_over;
  void hold_starts(const Task& hold) { begins(hold); }
  void hold_ends(const Task& hold) { task_ends(hold, true); }
  void task_starts(const Task& task, WorkerId worker);
  void task_ends(const Task& task, bool succeeded);
  /// Checks that the homes have the values of a sequential run, except data of failed or cancelled tasks.
  void check_homes();
  /// Tasks that started on a node while one that could have been admitted on it waited there, at most.
  std::size_t longest_passed() const { return longest_passed_; }

 private:
  static constexpr std::uint64_t rubbish = 0xdead;
  std::uint64_t carried_by(const memory::Copy& copy);
  struct Waiting {
    TaskId task = no_id<TaskId>;
    std::size_t passed = 0;
  };
  void begins(const Task& task);
  /// Its number in the program stands for the line where it was submitted.
  static std::size_t planned(const Task& task) { return task.submitted_at.line; }
  std::uint64_t& home(DatumId id) { return home_[id]; }
  /// Where the task adds, or reads and writes.
  DatumId target(const Task& task, std::size_t datum) const;
  void fold_starts(const Task& fold);
  void fold_ends(const Task& fold, bool succeeded);
  std::uint64_t* place(const memory::Replica& replica);
  std::uint64_t* place_for(const Task& task, DatumId id);
  void count_passed(WorkerId worker);

  const RandomProgram& program_;
  engine::Engine* engine_ = nullptr;
  std::vector<std::map<Bytes, std::uint64_t>> arenas_;  // by node and offset
  std::map<DatumId, std::uint64_t> home_;
  std::vector<DatumId> ids_;                  // by number in the program
  std::map<DatumId, int> writers_, readers_;  // tasks that run
  std::uint64_t folds_ = 0;
  std::map<const memory::Copy*, std::uint64_t> flying_;
  std::map<std::size_t, std::vector<std::uint64_t>> inputs_;  // by task
  std::vector<Waiting> waiting_;                              // by worker: what is first in its pipeline
  std::size_t longest_passed_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace fairlead::random_runs
