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

/// Makes one more datum like one of a collection, of which there is the handle: a handle of it, which stays. The
/// program's thread's.
using MakeFresh = std::function<std::pair<const void*, engine::RegisteredDatum*>(
    const CollectionDefinition& of, const void* like, bool exact)>;

class FreshData {
 public:
  FreshData(Values& values, MakeFresh make) : values_(values), make_(std::move(make)) {}

  /// Once, when it is known which kinds there are.
  void begin() { unused_.resize(values_.kinds().size()); }
  /// An unused one of the kind; no_value if there is none.
  std::uint32_t take(std::uint32_t kind) {
    const std::lock_guard guard(mutex_);
    std::vector<std::uint32_t>& unused = unused_[kind];
    if (unused.empty()) return no_value;
    const std::uint32_t number = unused.back();
    unused.pop_back();
    return number;
  }
  /// A task for which there was none of the kind: it gets another turn as soon as there is one.
  void starve(ActiveTask& task, std::uint32_t kind) {
    const std::lock_guard guard(mutex_);
    starved_.emplace_back(&task, kind);
    wanted_.store(starved_.size() + others_);
  }
  /// Somebody else wants one of the kind: he asks again after more were made.
  void want(std::uint32_t kind) {
    const std::lock_guard guard(mutex_);
    missing_.push_back(kind);
    wanted_.store(starved_.size() + ++others_);
  }
  /// Nobody uses it any more. Who has starved for one like it, if anybody has.
  ActiveTask* give_back(std::uint32_t number) {
    const std::uint32_t kind = values_[number].kind;
    const std::lock_guard guard(mutex_);
    unused_[kind].push_back(number);
    for (std::size_t i = 0; i < starved_.size(); ++i)
      if (starved_[i].second == kind) return release(i);
    return nullptr;
  }
  /// More have to be made.
  bool wanted() const noexcept { return wanted_.load() != 0; }
  /// Makes them, and calls again(task) for all who starved. `number(value)`: a new one. The program's thread.
  template <class New, class Again>
  void make_more(New&& is_new, Again&& again) {
    std::vector<std::size_t> missing(unused_.size());
    {
      const std::lock_guard guard(mutex_);
      for (const auto& [task, kind] : starved_) ++missing[kind];
      for (const std::uint32_t kind : std::exchange(missing_, {})) ++missing[kind];
      others_ = 0;
    }
    for (std::uint32_t i = 0; i < missing.size(); ++i)
      for (std::size_t k = 0; missing[i] != 0 && k < missing[i] + at_once; ++k) {
        const auto [handle, datum] = make_(values_.collection(values_.kinds()[i].collection),
                                           values_.kinds()[i].like, values_.kinds()[i].exact);
        const std::uint32_t number = values_.add_fresh(i, handle, *datum);
        is_new(values_[number]);
        const std::lock_guard guard(mutex_);
        unused_[i].push_back(number);
      }
    for (;;) {
      ActiveTask* task = nullptr;
      {
        const std::lock_guard guard(mutex_);
        wanted_.store(starved_.size() + others_);
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
    wanted_.store(starved_.size() + others_);
    return task;
  }

  Values& values_;
  const MakeFresh make_;
  std::atomic<std::size_t> wanted_{0};
  std::mutex mutex_;                                // guards what follows
  std::vector<std::vector<std::uint32_t>> unused_;  // by kind
  std::vector<std::pair<ActiveTask*, std::uint32_t>> starved_;
  std::vector<std::uint32_t> missing_;  // kinds that others want
  std::size_t others_ = 0;
};

}  // namespace fairlead::ptg
