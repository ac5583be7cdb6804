// See checkpointed_tasks.hpp.
#include "front/checkpoint/checkpointed_tasks.hpp"

#include <fairlead/codelet_info.hpp>

#include "base/random.hpp"

namespace fairlead::front {

std::uint64_t CheckpointedTasks::ordinal(engine::RegisteredDatum& datum) {
  const auto [at, is_new] = ordinals_.try_emplace(&datum, data_.size());
  if (!is_new && data_[at->second].generation == datum.generation) return at->second;
  at->second = data_.size();
  data_.push_back({.datum = &datum, .generation = datum.generation});
  return at->second;
}

std::uint64_t CheckpointedTasks::add(const detail::Submission& submission) {
  hash_ = Random::mix(hash_ ^ submission.codelet->name_hash());
  for (const detail::Submission::Use& use : submission.uses) {
    const std::uint64_t number = ordinal(*use.datum);
    data_[number].is_written |= writes(use.mode);
    hash_ = Random::mix(hash_ ^ (number << 8 | static_cast<std::uint64_t>(use.mode)));
  }
  return count_++;
}

void CheckpointedTasks::runs_as(TaskId id) {
  running_.push_back({count_ - 1, id});
  const std::lock_guard guard(mutex_);
  if (finished_.empty()) first_id_ = static_cast<std::uint64_t>(id);
  finished_.resize(static_cast<std::uint64_t>(id) - first_id_ + 1);
}

void CheckpointedTasks::finished(TaskId id) {
  const std::lock_guard guard(mutex_);
  const std::uint64_t at = static_cast<std::uint64_t>(id) - first_id_;
  if (static_cast<std::uint64_t>(id) >= first_id_ && at < finished_.size()) finished_[at] = true;
}

std::vector<std::uint64_t> CheckpointedTasks::unfinished() {
  std::vector<std::uint64_t> numbers;
  const std::lock_guard guard(mutex_);
  std::deque<Running> still;
  for (const Running& task : running_) {
    if (finished_[static_cast<std::uint64_t>(task.id) - first_id_]) continue;
    numbers.push_back(task.number);
    still.push_back(task);
  }
  running_.swap(still);
  if (running_.empty()) {
    finished_.clear();
  } else if (const auto past = static_cast<std::uint64_t>(running_.front().id) - first_id_; past != 0) {
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(past));
    first_id_ += past;
  }
  return numbers;
}

}  // namespace fairlead::front
