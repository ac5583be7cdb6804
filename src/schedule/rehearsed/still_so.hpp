// What is still so at any time: who is not over, and which data are where. Whoever takes over from another policy is told that.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "policy/policy.hpp"

namespace fairlead::schedule::rehearsed {

/// The tasks that are not over, in the order of the program.
class Unfinished {
 public:
  void add(Task& task) {
    if (tasks_.empty()) first_ = number(task);
    ensure(number(task) >= first_ + tasks_.size(), "tasks are told of in the order of their ids");
    tasks_.resize(number(task) - first_ + 1);
    tasks_.back() = &task;
    ++count_;
  }
  void remove(const Task& task) noexcept {
    if (number(task) < first_ || number(task) - first_ >= tasks_.size()) return;  // nobody told of it
    if (std::exchange(tasks_[number(task) - first_], nullptr) != nullptr) --count_;
    for (; !tasks_.empty() && tasks_.front() == nullptr; ++first_) tasks_.pop_front();
  }
  std::size_t count() const noexcept { return count_; }
  std::vector<Task*> list() const {
    std::vector<Task*> found;
    found.reserve(count_);
    std::ranges::copy_if(tasks_, std::back_inserter(found), [](const Task* task) { return task != nullptr; });
    return found;
  }

 private:
  static std::uint64_t number(const Task& task) noexcept { return static_cast<std::uint64_t>(task.id); }
  std::deque<Task*> tasks_;  // by id; null: over, or never submitted
  std::uint64_t first_ = 0;
  std::size_t count_ = 0;
};

/// On which nodes each datum is, or arrives: to be told to whoever takes over.
class Residency {
 public:
  void reserved(DatumId datum, NodeId node) {
    if (index(datum) >= nodes_.size()) nodes_.resize(2 * index(datum) + 1);
    nodes_[index(datum)] |= bit(node);
  }
  void dropped(DatumId datum, NodeId node) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] &= ~bit(node);
  }
  void removed(DatumId datum) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] = 0;
  }
  void tell(Policy& policy, const View& view) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::uint32_t left = nodes_[i]; left != 0; left &= left - 1) {
        const auto datum = static_cast<DatumId>(i);
        const auto node = static_cast<NodeId>(std::countr_zero(left));
        policy.reserved(datum, node);
        if (view.residency(datum, node) == ReplicaState::valid) policy.loaded(datum, node);
      }
  }

 private:
  static std::uint32_t bit(NodeId node) noexcept { return std::uint32_t{1} << index(node); }
  std::vector<std::uint32_t> nodes_;  // by datum: bit k, node k
};

}  // namespace fairlead::schedule::rehearsed
