// Data that are made for values which have no place of their own. They are made by the program's thread, a few at
// a time, and used again; a task for which there is none waits until there is.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "front/ptg/values.hpp"

namespace fairlead::ptg {

/// Makes one more datum like the first of a collection: a handle of it, which stays. The program's thread's.
using MakeFresh =
    std::function<std::pair<const void*, engine::RegisteredDatum*>(const CollectionDefinition& like)>;

class FreshData {
 public:
  FreshData(const ClassTable& table, Values& values, MakeFresh make)
      : table_(table), values_(values), make_(std::move(make)), unused_(table.collections.size()) {}

  /// An unused one like the collection's; no_value if there is none.
  std::uint32_t take(std::uint32_t collection) {
    const std::lock_guard guard(mutex_);
    std::vector<std::uint32_t>& unused = unused_[collection];
    if (unused.empty()) return no_value;
    const std::uint32_t number = unused.back();
    unused.pop_back();
    return number;
  }
  /// A task for which there was none: it gets another turn as soon as there is one. `collection`: like which it
  /// wants one.
  void starve(ActiveTask& task, std::uint32_t collection) {
    const std::lock_guard guard(mutex_);
    starved_.emplace_back(&task, collection);
    starving_.store(starved_.size());
  }
  /// Nobody uses it any more. Who has starved for one like it, if anybody has.
  ActiveTask* give_back(std::uint32_t number) {
    const std::uint32_t collection = values_[number].collection;
    const std::lock_guard guard(mutex_);
    unused_[collection].push_back(number);
    for (std::size_t i = 0; i < starved_.size(); ++i)
      if (starved_[i].second == collection) return release(i);
    return nullptr;
  }
  /// More have to be made.
  bool wanted() const noexcept { return starving_.load() != 0; }
  /// Makes them, and calls again(task) for all who starved. `number(value)`: a new one. The program's thread.
  template <class New, class Again>
  void make_more(New&& is_new, Again&& again) {
    std::vector<std::size_t> missing(unused_.size());
    {
      const std::lock_guard guard(mutex_);
      for (const auto& [task, collection] : starved_) ++missing[collection];
    }
    for (std::uint32_t i = 0; i < missing.size(); ++i)
      for (std::size_t k = 0; missing[i] != 0 && k < missing[i] + at_once; ++k) {
        const auto [handle, datum] = make_(*table_.collections[i]);
        const std::uint32_t number = values_.add_fresh(i, handle, *datum);
        is_new(values_[number]);
        const std::lock_guard guard(mutex_);
        unused_[i].push_back(number);
      }
    for (;;) {
      ActiveTask* task = nullptr;
      {
        const std::lock_guard guard(mutex_);
        if (starved_.empty()) return;
        task = release(starved_.size() - 1);
      }
      again(*task);
    }
  }

 private:
  static constexpr std::size_t at_once = 8;
  ActiveTask* release(std::size_t i) {
    ActiveTask* const task = starved_[i].first;
    starved_.erase(starved_.begin() + static_cast<std::ptrdiff_t>(i));
    starving_.store(starved_.size());
    return task;
  }

  const ClassTable& table_;
  Values& values_;
  const MakeFresh make_;
  std::atomic<std::size_t> starving_{0};
  std::mutex mutex_;                                // guards what follows
  std::vector<std::vector<std::uint32_t>> unused_;  // by collection
  std::vector<std::pair<ActiveTask*, std::uint32_t>> starved_;
};

}  // namespace fairlead::ptg
