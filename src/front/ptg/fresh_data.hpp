// Data that are made for values which have no place of their own. They are made by the program's thread, a few at
// a time, and used again; a task for which there is none waits until there is.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "front/ptg/values.hpp"

namespace fairlead::ptg {

/// Makes one more datum like one of a collection, of which there is the handle: a handle of it, which stays. The
/// program's thread's.
using MakeFresh = std::function<std::pair<const void*, engine::RegisteredDatum*>(
    const CollectionDefinition& of, const void* like, bool exact)>;

/// Many small ones can be held back (over ranks): each takes a page and a record of its own, so what comes or is made
/// faster than it is used would go to the disk page by page.
class FreshData {
 public:
  FreshData(Values& values, MakeFresh make) : values_(values), make_(std::move(make)) {}

  /// Once, when it is known which kinds there are.
  void begin() {
    unused_.resize(values_.kinds().size());
    starved_.resize(unused_.size());
    visitors_.resize(unused_.size());
    takes_.resize(unused_.size());
  }
  /// So many bytes of small ones may be in use for tasks, and as many for visitors.
  void hold_back_beyond(Bytes most) {
    const std::lock_guard guard(mutex_);
    most_ = most;
    beyond_ = {};
    look();
  }
  /// An unused one of the kind; no_value if there is none now.
  std::uint32_t take(std::uint32_t kind, FreshUse use) {
    const std::lock_guard guard(mutex_);
    std::vector<std::uint32_t>& unused = unused_[kind];
    if (unused.empty() || places(kind, use) == 0) return no_value;
    const std::uint32_t number = unused.back();
    unused.pop_back();
    values_[number].use = use;
    in_use_[index(use)] += counted(kind);
    return number;
  }
  /// A task for which there was none of the kind: it gets another turn as soon as there is one.
  void starve(ActiveTask& task, std::uint32_t kind) {
    const std::lock_guard guard(mutex_);
    if (given_up_.load()) return;
    starved_[kind].push_back(&task);
    look();
  }
  /// The run is over for all: who waits, or would from now on, is forgotten. For good. The program's thread's, as the
  /// next. `unmade`: why no more can be made, if it is that.
  void give_up(const std::exception_ptr& unmade = nullptr) {
    const std::lock_guard guard(mutex_);
    given_up_.store(true);
    if (unmade_ == nullptr) unmade_ = unmade;
    for (std::uint32_t i = 0; i < unused_.size(); ++i) {
      starved_[i].clear();
      visitors_[i] = 0;
    }
    look();
  }
  const std::exception_ptr& unmade() const noexcept { return unmade_; }
  bool given_up() const noexcept { return given_up_.load(); }
  std::size_t starving() const noexcept { return starving_.load(); }
  /// So many visitors wait for one of the kind. They ask again after more were made.
  void want(std::uint32_t kind, std::size_t visitors) {
    const std::lock_guard guard(mutex_);
    if (given_up_.load()) return;
    visitors_[kind] = visitors;
    look();
  }
  /// Nobody uses it any more. Who has starved for one like it, if anybody has.
  ActiveTask* give_back(std::uint32_t number) {
    const Value& value = values_[number];
    const std::lock_guard guard(mutex_);
    Bytes& in_use = in_use_[index(value.use)];
    in_use -= counted(value.kind);
    if (in_use <= most_) beyond_[index(value.use)] = 0;
    unused_[value.kind].push_back(number);
    ActiveTask* starved = nullptr;
    if (!starved_[value.kind].empty() && places(value.kind, FreshUse::task) != 0)
      starved = release(value.kind);
    look();
    return starved;
  }
  /// Somebody waits for one.
  bool wanted() const noexcept { return starving_.load() != 0 || visiting_.load() != 0; }
  bool visitors_wait() const noexcept { return visiting_.load() != 0; }
  /// Somebody waits who is not held back: more have to be made.
  bool to_be_made() const noexcept { return to_be_made_.load(); }
  /// What is held back would stay so for ever: a part of it goes on.
  void let_more(FreshUse use) {
    const std::lock_guard guard(mutex_);
    const Bytes in_use = in_use_[index(use)];
    beyond_[index(use)] = in_use + std::max(in_use / 8, most_spare * most_small);
    look();
  }
  /// Makes them, and calls again(task) for those who starved. `number(value)`: a new one. The program's thread.
  template <class New, class Again>
  void make_more(New&& is_new, Again&& again) {
    std::vector<ActiveTask*> fed;
    for (std::uint32_t i = 0; i < unused_.size(); ++i) {
      for (std::size_t missing = missing_of(i); missing != 0; --missing) {
        const FreshKind& kind = values_.kinds()[i];
        const auto [handle, datum] = make_(values_.collection(kind.collection), kind.like, kind.exact);
        const std::uint32_t number = values_.add_fresh(i, handle, *datum);
        is_new(values_[number]);
        const std::lock_guard guard(mutex_);
        takes_[i] = whole_pages_for(datum->bytes);
        unused_[i].push_back(number);
      }
      const std::lock_guard guard(mutex_);
      for (std::size_t can = std::min(unused_[i].size(), places(i, FreshUse::task));
           can != 0 && !starved_[i].empty(); --can)
        fed.push_back(release(i));
      look();
    }
    for (ActiveTask* const task : fed) again(*task);
  }

 private:
  static constexpr std::size_t most_spare = 8;
  static constexpr Bytes spare_bytes = Bytes{8} << 20;
  // What is larger is worth its way to the disk and back.
  static constexpr Bytes most_small = Bytes{16} << 10;
  static constexpr std::size_t index(FreshUse use) noexcept { return static_cast<std::size_t>(use); }

  // Under the mutex.
  Bytes counted(std::uint32_t kind) const noexcept { return takes_[kind] <= most_small ? takes_[kind] : 0; }
  /// For so many more of the kind, be there any or not.
  std::size_t places(std::uint32_t kind, FreshUse use) const noexcept {
    const Bytes each = counted(kind), most = std::max(most_, beyond_[index(use)]);
    if (each == 0) return ~std::size_t{0};
    return most < in_use_[index(use)] ? 0 : (most - in_use_[index(use)]) / each;
  }
  ActiveTask* release(std::uint32_t kind) {
    ActiveTask* const task = starved_[kind].front();
    starved_[kind].pop_front();
    return task;
  }
  std::size_t waiting(std::uint32_t kind) const noexcept {
    return std::min(starved_[kind].size(), places(kind, FreshUse::task)) +
           std::min(visitors_[kind], places(kind, FreshUse::visitor));
  }
  std::size_t missing_of(std::uint32_t kind) const {
    const std::lock_guard guard(mutex_);
    const std::size_t waiting = this->waiting(kind);
    if (waiting <= unused_[kind].size()) return 0;
    if (takes_[kind] == 0) return 1;  // none was made yet
    // More than are needed now, so that fewer wait for the program's thread; of large ones fewer, since all have their
    // memory faulted in.
    const std::size_t spare = std::min<std::size_t>(most_spare, spare_bytes / takes_[kind]);
    return waiting - unused_[kind].size() + spare;
  }
  /// After every change.
  void look() {
    std::size_t starving = 0, visiting = 0;
    bool to_be_made = false;
    for (std::uint32_t i = 0; i < unused_.size(); ++i) {
      starving += starved_[i].size();
      visiting += visitors_[i];
      to_be_made = to_be_made || waiting(i) != 0;
    }
    starving_.store(starving);
    visiting_.store(visiting);
    to_be_made_.store(to_be_made);
  }

  Values& values_;
  const MakeFresh make_;
  std::exception_ptr unmade_;
  std::atomic<std::size_t> starving_{0}, visiting_{0};
  std::atomic<bool> to_be_made_{false}, given_up_{false};
  mutable std::mutex mutex_;                        // guards what follows
  std::vector<std::vector<std::uint32_t>> unused_;  // by kind, as the next three
  std::vector<std::deque<ActiveTask*>> starved_;
  std::vector<std::size_t> visitors_;
  std::vector<Bytes> takes_;  // one of it; 0: there was none yet
  Bytes most_ = ~Bytes{0};
  std::array<Bytes, 2> beyond_{}, in_use_{};  // by FreshUse
};

}  // namespace fairlead::ptg
