// The tasks that checkpoints cover: their numbers in order of submission, the data that they use, and which are finished.
// The same program submits the same tasks again, so a number identifies a task in a resumed run, and the order of first use
// a datum.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/registered_datum.hpp"

namespace fairlead::front {

/// A datum that the tasks use.
struct CheckpointedDatum {
  engine::RegisteredDatum* datum = nullptr;
  std::uint32_t generation = 0;
  bool is_written = false;

  bool exists() const noexcept { return datum->generation == generation && datum->id != no_id<DatumId>; }
};

/// Used by the application's thread, except finished().
class CheckpointedTasks {
 public:
  /// Numbers the task and its data. Returns the task's number.
  std::uint64_t add(const detail::Submission& submission);
  /// The task that was added last runs under this id; otherwise it counts as finished.
  void runs_as(TaskId id);
  /// Any thread: a task has succeeded, of these or another one.
  void finished(TaskId id);

  std::uint64_t count() const noexcept { return count_; }
  /// Of all tasks so far: their codelets, and how they use which data.
  std::uint64_t hash() const noexcept { return hash_; }
  /// The numbers of tasks that have not finished, ascending. Call it in a pause.
  std::vector<std::uint64_t> unfinished();
  /// By ordinal.
  const std::vector<CheckpointedDatum>& data() const noexcept { return data_; }
  /// Of a datum of the task that was added last, or of an earlier one.
  std::uint64_t ordinal_of(const engine::RegisteredDatum& datum) const { return ordinals_.at(&datum); }
  bool uses(const engine::RegisteredDatum& datum) const noexcept {
    const auto found = ordinals_.find(&datum);
    return found != ordinals_.end() && data_[found->second].generation == datum.generation;
  }

 private:
  std::uint64_t ordinal(engine::RegisteredDatum& datum);

  std::uint64_t count_ = 0, hash_ = 0;
  std::unordered_map<const engine::RegisteredDatum*, std::uint64_t>
      ordinals_;  // of the datum's generation now
  std::vector<CheckpointedDatum> data_;
  struct Running {
    std::uint64_t number;
    TaskId id;
  };
  std::deque<Running>
      running_;       // ascending; without tasks that were finished at the last call of unfinished()
  std::mutex mutex_;  // guards the fields below
  std::vector<bool> finished_;  // by id - first_id_
  std::uint64_t first_id_ = 0;
};

}  // namespace fairlead::front
