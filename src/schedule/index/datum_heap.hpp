// The data that a node may load next, best first: line 6 of DARTS's Algorithm 3, as a heap with the position of each
// datum.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "schedule/index/indexed_heap.hpp"

namespace fairlead::schedule {

/// The criteria for loading a datum; the comments give the paper's names.
struct LoadPriority {
  std::int64_t transfer = 0;  ///< transfer_duration(D), ns
  std::int64_t work = 0;      ///< computation_time(D): of S0, ns
  std::int64_t left = 0;      ///< task_left(D), ns
  std::int32_t priority = 0;  ///< max_prio(D): of S0, else of S1
  std::uint32_t s0 = 0;       ///< |S0(D)|
  std::uint32_t s1 = 0;       ///< |S1(D)|
  DatumId datum = no_id<DatumId>;
  double ratio = std::numeric_limits<double>::infinity();  ///< transfer / work, rounded; infinite without S0

  void rate() noexcept {
    if (s0 != 0) ratio = static_cast<double>(transfer) / static_cast<double>(work);
  }
};

/// Smallest ratio, then more S0, higher priority, more S1, more remaining work, lowest id. Exact: rounding is
/// monotonic, and equal ratios are compared as integers, for up to 104 days of work.
inline bool better(const LoadPriority& a, const LoadPriority& b) noexcept {
  if (a.ratio != b.ratio) return a.ratio < b.ratio;
  if (a.s0 != 0) {
    __extension__ using Wide = __int128;
    const Wide left = static_cast<Wide>(a.transfer) * b.work, right = static_cast<Wide>(b.transfer) * a.work;
    if (left != right) return left < right;
  }
  if (a.s0 != b.s0) return a.s0 > b.s0;
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.s1 != b.s1) return a.s1 > b.s1;
  if (a.left != b.left) return a.left > b.left;
  return a.datum < b.datum;
}

/// True if `a` is better whatever its priority.
inline bool better_by_ratio(const LoadPriority& a, const LoadPriority& b) noexcept {
  LoadPriority least = a;
  least.priority = std::numeric_limits<std::int32_t>::min();
  least.s1 = 0;
  least.left = std::numeric_limits<std::int64_t>::min();
  least.datum = no_id<DatumId>;
  return better(least, b);
}

/// True if `a` is better whatever its |S1|, remaining work and id.
inline bool better_by_priority(const LoadPriority& a, const LoadPriority& b) noexcept {
  LoadPriority least = a;
  least.s1 = 0;
  least.left = std::numeric_limits<std::int64_t>::min();
  least.datum = no_id<DatumId>;
  return better(least, b);
}

/// Most comparisons need only one number, the key; LoadPriority is read only for equal keys, so the heap stays in the cache.
class DatumHeap {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  const LoadPriority& top() const noexcept { return worth_[index(heap_.top().datum)]; }
  /// True even if the priority of the top is only an upper bound.
  bool is_top_best_by_ratio() const noexcept { return top_is_best(better_by_ratio); }
  /// True even if |S1| and the remaining work of others are too low.
  bool top_is_best_by_priority() const noexcept { return top_is_best(better_by_priority); }

  /// Inserts the datum or updates its worth. Either all data in the heap have a nonempty S0, or none has.
  void put(const LoadPriority& worth) {
    const std::size_t datum = index(worth.datum);
    if (datum >= position_.size()) {
      position_.resize(2 * datum + 1, none);
      worth_.resize(2 * datum + 1);
    }
    worth_[datum] = worth;
    const Item item{worth.s0 != 0 ? worth.ratio : -static_cast<double>(worth.priority), worth.datum};
    if (position_[datum] == none)
      heap_.push(item, order());
    else
      heap_.replace(position_[datum], item, order());
  }
  /// Raises |S1| and the remaining work of a datum in the heap; its other criteria have not improved.
  void raise(DatumId datum, std::uint32_t s1, std::int64_t left) noexcept {
    LoadPriority& worth = worth_[index(datum)];
    worth.s1 = std::max(worth.s1, s1);
    worth.left = std::max(worth.left, left);
    const std::uint32_t at = position_[index(datum)];
    heap_.move_up(at, heap_[at], order());
  }
  /// Removes the datum, if present.
  void erase(DatumId datum) {
    if (index(datum) >= position_.size() || position_[index(datum)] == none) return;
    heap_.erase(std::exchange(position_[index(datum)], none), order());
  }

 private:
  struct Item {
    double key = 0;  // smaller first: the ratio; without S0, the negated priority
    DatumId datum{};
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Order {
    const std::vector<LoadPriority>& worth;
    std::vector<std::uint32_t>& position;
    bool before(const Item& a, const Item& b) const noexcept {
      if (a.key != b.key) return a.key < b.key;
      return better(worth[index(a.datum)], worth[index(b.datum)]);
    }
    void moved(const Item& item, std::size_t at) const noexcept {
      position[index(item.datum)] = static_cast<std::uint32_t>(at);
    }
  };
  using Heap = IndexedHeap<Item, Order>;

  Order order() noexcept { return {worth_, position_}; }
  template <class Better>
  bool top_is_best(Better&& better_anyway) const noexcept {
    for (std::size_t child = 1; child < std::min(Heap::children + 1, heap_.size()); ++child)
      if (!better_anyway(top(), worth_[index(heap_[child].datum)])) return false;
    return true;
  }
  Heap heap_;
  std::vector<std::uint32_t> position_;  // by datum
  std::vector<LoadPriority> worth_;      // by datum in the heap
};

}  // namespace fairlead::schedule
