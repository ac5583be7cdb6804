// A queue with insertion and removal at both ends, where each worker takes the first or last task that it can run.
// Tasks that the same workers can run form a row (WorkerSets), so that a worker need not skip tasks one by one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

class TwoEndedQueue {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  void push_front(Task& task, std::size_t set) { row(set).push_front({--first_, &task}); }
  void push_back(Task& task, std::size_t set) { row(set).push_back({++last_, &task}); }

  /// The first task; the queue must not be empty.
  const Task& front() {
    return *front_row([](std::size_t) { return true; })->front().task;
  }
  /// Removes the first task whose set satisfies the condition; null if none does.
  template <class Condition>
  Task* take_front(Condition&& condition) {
    Row* const row = front_row(condition);
    if (row == nullptr) return nullptr;
    Task* task = row->front().task;
    row->pop_front();
    --size_;
    return task;
  }
  /// Removes the last task whose set satisfies the condition; null if none does.
  template <class Condition>
  Task* take_back(Condition&& condition) {
    Row* best = nullptr;
    for (std::size_t set = 0; set < rows_.size(); ++set)
      if (!rows_[set].empty() && condition(set) &&
          (best == nullptr || rows_[set].back().place > best->back().place))
        best = &rows_[set];
    if (best == nullptr) return nullptr;
    Task* task = best->back().task;
    best->pop_back();
    --size_;
    return task;
  }

  /// Calls f(task) from front to back, until it returns false.
  template <class F>
  void for_each_while(F&& f) const {
    std::vector<std::size_t> passed(rows_.size(), 0);
    for (;;) {
      std::size_t next = rows_.size();
      for (std::size_t set = 0; set < rows_.size(); ++set)
        if (passed[set] < rows_[set].size() &&
            (next == rows_.size() || rows_[set][passed[set]].place < rows_[next][passed[next]].place))
          next = set;
      if (next == rows_.size() || !f(*rows_[next][passed[next]++].task)) return;
    }
  }

 private:
  struct Item {
    std::int64_t place;  // increases from front to back, also across rows
    Task* task;
  };
  using Row = std::deque<Item>;

  Row& row(std::size_t set) {
    ++size_;
    if (set >= rows_.size()) rows_.resize(set + 1);
    return rows_[set];
  }
  /// The row with the first task, among the rows that satisfy the condition; null if there is none.
  template <class Condition>
  Row* front_row(Condition&& condition) {
    Row* best = nullptr;
    for (std::size_t set = 0; set < rows_.size(); ++set)
      if (!rows_[set].empty() && condition(set) &&
          (best == nullptr || rows_[set].front().place < best->front().place))
        best = &rows_[set];
    return best;
  }

  std::vector<Row> rows_;  // by set of workers
  std::int64_t first_ = 0, last_ = 0;
  std::size_t size_ = 0;
};

}  // namespace fairlead::schedule
