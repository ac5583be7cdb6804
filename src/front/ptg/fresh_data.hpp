// Data that are made for values which have no place of their own. They are made by the program's thread, a few at
// a time, and used again; who finds none waits until there is one.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "front/ptg/values.hpp"

namespace fairlead::ptg {

/// Makes one more datum like that of a handle of the collection: a handle of it, which stays. The program's thread's.
using MakeFresh = std::function<std::pair<const void*, engine::RegisteredDatum*>(const CollectionDefinition&,
                                                                                 const void* like)>;

class FreshData {
 public:
  FreshData(const ClassTable& table, Values& values, MakeFresh make)
      : table_(table), values_(values), make_(std::move(make)) {}

  /// An unused one like the first of the collection; no_value if there is none.
  std::uint32_t take(std::uint32_t collection) { return take_like(values_.first_of(collection)); }
  /// The same like any of a collection, by its number.
  std::uint32_t take_like(std::uint32_t like) {
    const std::lock_guard guard(mutex_);
    std::vector<std::uint32_t>& unused = kinds_[kind_of(like)].unused;
    if (unused.empty()) return no_value;
    const std::uint32_t number = unused.back();
    unused.pop_back();
    return number;
  }
  /// A task for which there was none: it gets another turn as soon as there is one. `collection`: like which it
  /// wants one.
  void starve(ActiveTask& task, std::uint32_t collection) {
    const std::lock_guard guard(mutex_);
    starved_.emplace_back(&task, kind_of(values_.first_of(collection)));
    wanted_.store(starved_.size() + others_);
  }
  /// Somebody else wants one like that: he asks again after more were made.
  void want(std::uint32_t like) {
    const std::lock_guard guard(mutex_);
    ++kinds_[kind_of(like)].wanted;
    wanted_.store(starved_.size() + ++others_);
  }
  /// Nobody uses it any more. Who has starved for one like it, if anybody has.
  ActiveTask* give_back(std::uint32_t number) {
    const std::uint32_t kind = values_[number].kind;
    const std::lock_guard guard(mutex_);
    kinds_[kind].unused.push_back(number);
    for (std::size_t i = 0; i < starved_.size(); ++i)
      if (starved_[i].second == kind) return release(i);
    return nullptr;
  }
  /// More have to be made.
  bool wanted() const noexcept { return wanted_.load() != 0; }
  /// Makes them, and calls again(task) for all who starved. `number(value)`: a new one. The program's thread.
  template <class New, class Again>
  void make_more(New&& is_new, Again&& again) {
    std::vector<std::size_t> missing;
    {
      const std::lock_guard guard(mutex_);
      for (Kind& kind : kinds_) missing.push_back(std::exchange(kind.wanted, 0));
      for (const auto& [task, kind] : starved_) ++missing[kind];
      others_ = 0;
    }
    for (std::uint32_t i = 0; i < missing.size(); ++i)
      for (std::size_t k = 0; missing[i] != 0 && k < missing[i] + at_once; ++k) {
        std::uint32_t like = 0;
        {
          const std::lock_guard guard(mutex_);
          like = kinds_[i].like;
        }
        const auto [handle, datum] =
            make_(*table_.collections[values_[like].collection], values_[like].handle);
        const std::uint32_t number = values_.add_fresh(i, like, handle, *datum);
        is_new(values_[number]);
        const std::lock_guard guard(mutex_);
        kinds_[i].unused.push_back(number);
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
  /// Data of one type and shape.
  struct Kind {
    std::uint32_t like = 0;
    std::size_t wanted = 0;
    std::vector<std::uint32_t> unused{};
  };
  /// By what is in a handle besides the datum: the shape.
  std::uint32_t kind_of(std::uint32_t like) {
    if (const auto found = kind_of_number_.find(like); found != kind_of_number_.end()) return found->second;
    const Value& value = values_[like];
    constexpr std::size_t begin = sizeof(fairlead::detail::DatumReference);
    const std::size_t bytes = table_.collections[value.collection]->handle_bytes;
    std::string shape(bytes > begin ? bytes - begin : 0, 0);
    if (!shape.empty())
      std::memcpy(shape.data(), static_cast<const std::byte*>(value.handle) + begin, shape.size());
    const auto kind = kind_of_shape_.emplace(std::pair(value.collection, std::move(shape)),
                                             static_cast<std::uint32_t>(kinds_.size()));
    if (kind.second) kinds_.push_back({.like = like});
    kind_of_number_.emplace(like, kind.first->second);
    return kind.first->second;
  }
  ActiveTask* release(std::size_t i) {
    ActiveTask* const task = starved_[i].first;
    starved_.erase(starved_.begin() + static_cast<std::ptrdiff_t>(i));
    wanted_.store(starved_.size() + others_);
    return task;
  }

  const ClassTable& table_;
  Values& values_;
  const MakeFresh make_;
  std::atomic<std::size_t> wanted_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<Kind> kinds_;
  std::map<std::uint32_t, std::uint32_t> kind_of_number_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> kind_of_shape_;  // by collection, too
  std::vector<std::pair<ActiveTask*, std::uint32_t>> starved_;
  std::size_t others_ = 0;
};

}  // namespace fairlead::ptg
