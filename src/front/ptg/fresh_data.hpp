// A pool of fresh data: data for values that have no place in a collection. The program's thread creates them, a few
// at a time; they are reused. A task for which there is none waits.
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
#include "front/ptg/flow_values.hpp"

namespace fairlead::ptg {

/// Creates a datum like the given one of the collection (`exact`: with the same extents) and returns its handle,
/// which stays valid, and its registration. For the program's thread.
using MakeFresh = std::function<std::pair<const void*, engine::RegisteredDatum*>(
    const CollectionDefinition& of, const void* like, bool exact)>;

/// Thread-safe, except where noted. With several ranks the number of small data in use is limited: each takes a page
/// and a record, and values that arrive or are produced faster than they are used would be evicted to disk page by
/// page.
class FreshData {
 public:
  FreshData(FlowValues& values, MakeFresh make) : values_(values), make_(std::move(make)) {}

  /// Call once, when the kinds of values are known.
  void begin() {
    unused_.resize(values_.kinds().size());
    starved_.resize(unused_.size());
    visitors_.resize(unused_.size());
    takes_.resize(unused_.size());
  }
  /// Limits the small data in use: at most `most` bytes for tasks, and as much for values from other ranks
  /// (visitors).
  void set_limit(Bytes most) {
    const std::lock_guard guard(mutex_);
    most_ = most;
    beyond_ = {};
    update_summaries();
  }
  /// Takes an unused datum of this kind; no_value if there is none or the limit is reached.
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
  /// Queues a task for which take() found no datum. It is released as soon as there is one.
  void queue_task(TaskInstance& task, std::uint32_t kind) {
    const std::lock_guard guard(mutex_);
    if (given_up_.load()) return;
    starved_[kind].push_back(&task);
    update_summaries();
  }
  /// Ends the run: waiting tasks are dropped, now and later; cannot be undone. `unmade`: the error, if no datum could
  /// be created. This and creation_error() are for the program's thread.
  void give_up(const std::exception_ptr& unmade = nullptr) {
    const std::lock_guard guard(mutex_);
    given_up_.store(true);
    if (unmade_ == nullptr) unmade_ = unmade;
    for (std::uint32_t i = 0; i < unused_.size(); ++i) {
      starved_[i].clear();
      visitors_[i] = 0;
    }
    update_summaries();
  }
  const std::exception_ptr& creation_error() const noexcept { return unmade_; }
  bool given_up() const noexcept { return given_up_.load(); }
  /// The number of tasks that wait.
  std::size_t queued_tasks() const noexcept { return starving_.load(); }
  /// Records how many values from other ranks wait for this kind. They try again after make_more().
  void set_waiting_values(std::uint32_t kind, std::size_t visitors) {
    const std::lock_guard guard(mutex_);
    if (given_up_.load()) return;
    visitors_[kind] = visitors;
    update_summaries();
  }
  /// Puts back a datum that is no longer used. Returns a task that waited for this kind and can now continue, or null.
  TaskInstance* give_back(std::uint32_t number) {
    const FlowValue& value = values_[number];
    const std::lock_guard guard(mutex_);
    Bytes& in_use = in_use_[index(value.use)];
    in_use -= counted(value.kind);
    if (in_use <= most_) beyond_[index(value.use)] = 0;
    unused_[value.kind].push_back(number);
    TaskInstance* starved = nullptr;
    if (!starved_[value.kind].empty() && places(value.kind, FreshUse::task) != 0)
      starved = release(value.kind);
    update_summaries();
    return starved;
  }
  /// True if a task or a value from another rank waits.
  bool has_waiters() const noexcept { return starving_.load() != 0 || visiting_.load() != 0; }
  /// True if a value from another rank waits.
  bool visitors_wait() const noexcept { return visiting_.load() != 0; }
  /// True if one of them waits below the limit, so that data must be created.
  bool to_be_made() const noexcept { return to_be_made_.load(); }
  /// Raises the limit for this use, by an eighth of the data in use and at least 8 data of the largest small size:
  /// otherwise the waiting ones would wait forever.
  void raise_limit(FreshUse use) {
    const std::lock_guard guard(mutex_);
    const Bytes in_use = in_use_[index(use)];
    beyond_[index(use)] = in_use + std::max(in_use / 8, most_spare * most_small);
    update_summaries();
  }
  /// Creates missing data. Calls is_new(value) for each new value, and again(task) for each task that can continue.
  /// For the program's thread.
  template <class New, class Again>
  void make_more(New&& is_new, Again&& again) {
    std::vector<TaskInstance*> fed;
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
      update_summaries();
    }
    for (TaskInstance* const task : fed) again(*task);
  }

 private:
  static constexpr std::size_t most_spare = 8;
  static constexpr Bytes spare_bytes = Bytes{8} << 20;
  // Larger data are not limited: eviction to disk is efficient for them.
  static constexpr Bytes most_small = Bytes{16} << 10;
  static constexpr std::size_t index(FreshUse use) noexcept { return static_cast<std::size_t>(use); }

  // ---- with the mutex held
  // The bytes that count against the limit: 0 for a large datum.
  Bytes counted(std::uint32_t kind) const noexcept { return takes_[kind] <= most_small ? takes_[kind] : 0; }
  /// How many more data of the kind the limit permits, whether they exist or not.
  std::size_t places(std::uint32_t kind, FreshUse use) const noexcept {
    const Bytes each = counted(kind), most = std::max(most_, beyond_[index(use)]);
    if (each == 0) return ~std::size_t{0};
    return most < in_use_[index(use)] ? 0 : (most - in_use_[index(use)]) / each;
  }
  TaskInstance* release(std::uint32_t kind) {
    TaskInstance* const task = starved_[kind].front();
    starved_[kind].pop_front();
    return task;
  }
  std::size_t waiting(std::uint32_t kind) const noexcept {
    return std::min(starved_[kind].size(), places(kind, FreshUse::task)) +
           std::min(visitors_[kind], places(kind, FreshUse::remote_value));
  }
  std::size_t missing_of(std::uint32_t kind) const {
    const std::lock_guard guard(mutex_);
    const std::size_t waiting = this->waiting(kind);
    if (waiting <= unused_[kind].size()) return 0;
    if (takes_[kind] == 0) return 1;  // none exists yet, so the size is unknown
    // Creates spare data, so that later tasks need not wait for the program's thread. Fewer if they are large, since
    // creation faults in their memory.
    const std::size_t spare = std::min<std::size_t>(most_spare, spare_bytes / takes_[kind]);
    return waiting - unused_[kind].size() + spare;
  }
  /// Updates the atomic summaries. Call after each change.
  void update_summaries() {
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

  FlowValues& values_;
  const MakeFresh make_;
  std::exception_ptr unmade_;
  std::atomic<std::size_t> starving_{0}, visiting_{0};
  std::atomic<bool> to_be_made_{false}, given_up_{false};
  mutable std::mutex mutex_;                        // guards the members below
  std::vector<std::vector<std::uint32_t>> unused_;  // this and the next three: by kind
  std::vector<std::deque<TaskInstance*>> starved_;
  std::vector<std::size_t> visitors_;
  std::vector<Bytes> takes_;  // bytes of one datum; 0: none exists yet
  Bytes most_ = ~Bytes{0};
  std::array<Bytes, 2> beyond_{}, in_use_{};  // both by FreshUse: a raised limit, and bytes in use
};

}  // namespace fairlead::ptg
