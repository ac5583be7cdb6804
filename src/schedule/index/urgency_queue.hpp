// Ready tasks by priority, then in order of arrival. Optimized for programs with few priorities at a time: then access
// to both ends costs a few nanoseconds.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule {

class UrgencyQueue {
 public:
  UrgencyQueue() = default;
  UrgencyQueue(const UrgencyQueue&) = delete;  // last_ points into its own map
  UrgencyQueue& operator=(const UrgencyQueue&) = delete;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  void insert(Task* task) { insert(task, task->priority); }
  void insert(Task* task, std::int32_t priority) {
    ++size_;
    if (last_ == buckets_.end() || last_->first != priority) last_ = buckets_.try_emplace(priority).first;
    last_->second.push_back(task);
  }

  /// Removes the most urgent task that satisfies the condition; null if none does.
  template <class Condition>
  Task* take_first(Condition&& condition) {
    for (auto it = buckets_.begin(); it != buckets_.end(); ++it) {
      Bucket& bucket = it->second;
      for (auto at = bucket.begin(); at != bucket.end(); ++at) {
        Task* task = *at;
        if (!condition(*task)) continue;
        bucket.erase(at);
        removed_from(it);
        return task;
      }
    }
    return nullptr;
  }
  /// Removes the least urgent task that satisfies the condition; null if none does.
  template <class Condition>
  Task* take_last(Condition&& condition) {
    for (auto it = buckets_.end(); it != buckets_.begin();) {
      --it;
      Bucket& bucket = it->second;
      for (auto at = bucket.end(); at != bucket.begin();) {
        Task* task = *--at;
        if (!condition(*task)) continue;
        bucket.erase(at);
        removed_from(it);
        return task;
      }
    }
    return nullptr;
  }

  /// Calls f(task) in order of priority until it returns false.
  template <class F>
  void for_each_while(F&& f) const {
    for (const auto& [priority, bucket] : buckets_)
      for (const Task* task : bucket)
        if (!f(*task)) return;
  }

 private:
  /// Oldest first. Not a deque, which takes half a kilobyte: there may be as many priorities as tasks.
  class Bucket {
   public:
    using Iterator = std::vector<Task*>::iterator;
    bool empty() const noexcept { return first_ == tasks_.size(); }
    Iterator begin() noexcept { return tasks_.begin() + static_cast<std::ptrdiff_t>(first_); }
    Iterator end() noexcept { return tasks_.end(); }
    std::vector<Task*>::const_iterator begin() const noexcept {
      return tasks_.begin() + static_cast<std::ptrdiff_t>(first_);
    }
    std::vector<Task*>::const_iterator end() const noexcept { return tasks_.end(); }
    void push_back(Task* task) {
      if (tasks_.size() == tasks_.capacity() && 2 * first_ >= tasks_.size()) {  // reuse the space in front
        tasks_.erase(tasks_.begin(), begin());
        first_ = 0;
      }
      tasks_.push_back(task);
    }
    void erase(Iterator at) {
      if (at == begin())
        ++first_;
      else
        tasks_.erase(at);
    }

   private:
    std::vector<Task*> tasks_;
    std::size_t first_ = 0;  // elements before it are removed
  };
  using Buckets = std::map<std::int32_t, Bucket, std::greater<>>;

  void removed_from(Buckets::iterator bucket) {
    --size_;
    // The last bucket is kept, so that a program with a single priority does not allocate repeatedly.
    if (!bucket->second.empty() || buckets_.size() == 1) return;
    if (last_ == bucket) last_ = buckets_.end();
    buckets_.erase(bucket);
  }

  Buckets buckets_;
  Buckets::iterator last_ = buckets_.end();  // bucket of the last insertion
  std::size_t size_ = 0;
};

}  // namespace fairlead::schedule
