// The data of dataNotInMem of one node, best to load first: Algorithm 3, line 6, as a heap that knows where
// each datum is.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace fairlead::schedule::darts {

/// What makes a datum worth loading; the paper's names in the comments.
struct Worth {
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

/// Smallest ratio, then more S0, higher priority, more S1, more work left, lowest id. Exact: rounding keeps
/// the order of what it does not make equal, up to 104 days of work.
inline bool better(const Worth& a, const Worth& b) noexcept {
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

/// Better whatever the priorities are.
inline bool better_by_ratio(const Worth& a, const Worth& b) noexcept {
  Worth least = a;
  least.priority = std::numeric_limits<std::int32_t>::min();
  least.s1 = 0;
  least.left = std::numeric_limits<std::int64_t>::min();
  least.datum = no_id<DatumId>;
  return better(least, b);
}

/// Better whatever |S1|, work left and ids are.
inline bool better_by_priority(const Worth& a, const Worth& b) noexcept {
  Worth least = a;
  least.s1 = 0;
  least.left = std::numeric_limits<std::int64_t>::min();
  least.datum = no_id<DatumId>;
  return better(least, b);
}

/// Compares most data by one number, and looks at what they are worth only where that is equal: the heap
/// itself is small enough to stay near, and its four children a parent lie in one or two cache lines.
class DatumHeap {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  const Worth& top() const noexcept { return worth_[index(heap_.front().datum)]; }
  /// The best after the top, or null.
  const Worth* second() const noexcept {
    if (heap_.size() < 2) return nullptr;
    return &worth_[index(heap_[best_child(0)].datum)];
  }
  /// Even if the priority of the top is only an upper bound.
  bool top_is_best_by_ratio() const noexcept { return top_is_best(better_by_ratio); }
  /// Even if more is known of the |S1| and work left of others.
  bool top_is_best_by_priority() const noexcept { return top_is_best(better_by_priority); }

  /// The datum will be looked at soon.
  void fetch(DatumId datum) const noexcept {
    if (index(datum) >= position_.size()) return;
    __builtin_prefetch(&position_[index(datum)]);
    __builtin_prefetch(&worth_[index(datum)]);
  }
  /// Enters the datum, or changes its worth. All data here have an S0, or none has.
  void put(const Worth& worth) {
    const std::size_t datum = index(worth.datum);
    if (datum >= position_.size()) {
      position_.resize(2 * datum + 1, none);
      worth_.resize(2 * datum + 1);
    }
    std::uint32_t at = position_[datum];
    if (at == none) {
      at = static_cast<std::uint32_t>(heap_.size());
      heap_.emplace_back();
    }
    worth_[datum] = worth;
    restore(at, {worth.s0 != 0 ? worth.ratio : -static_cast<double>(worth.priority), worth.datum});
  }
  /// More |S1| or work left; the rest of what makes it worth loading has not become better. The datum is
  /// here.
  void raise(DatumId datum, std::uint32_t s1, std::int64_t left) noexcept {
    Worth& worth = worth_[index(datum)];
    worth.s1 = std::max(worth.s1, s1);
    worth.left = std::max(worth.left, left);
    const std::uint32_t at = position_[index(datum)];
    move_up(at, heap_[at]);
  }
  /// Removes the datum, if it is here.
  void erase(DatumId datum) {
    if (index(datum) >= position_.size() || position_[index(datum)] == none) return;
    const std::uint32_t at = position_[index(datum)];
    position_[index(datum)] = none;
    const Item last = heap_.back();
    heap_.pop_back();
    if (at < heap_.size()) restore(at, last);
  }

 private:
  struct Item {
    double key = 0;  // smaller first: the ratio; without S0, the priority below zero
    DatumId datum{};
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t children = 4;

  bool before(const Item& a, const Item& b) const noexcept {
    if (a.key != b.key) return a.key < b.key;
    return better(worth_[index(a.datum)], worth_[index(b.datum)]);
  }
  std::size_t best_child(std::size_t at) const noexcept {
    const std::size_t first = children * at + 1, end = std::min(first + children, heap_.size());
    std::size_t best = first;
    for (std::size_t child = first + 1; child < end; ++child)
      if (before(heap_[child], heap_[best])) best = child;
    return best;
  }
  template <class Better>
  bool top_is_best(Better&& better_anyway) const noexcept {
    for (std::size_t child = 1; child < std::min(children + 1, heap_.size()); ++child)
      if (!better_anyway(top(), worth_[index(heap_[child].datum)])) return false;
    return true;
  }
  void set(std::size_t at, const Item& item) noexcept {
    heap_[at] = item;
    position_[index(item.datum)] = static_cast<std::uint32_t>(at);
  }
  /// Places `item` at `at` or where the order demands nearer to the top; returns where.
  std::size_t move_up(std::size_t at, const Item item) noexcept {
    for (; at > 0 && before(item, heap_[(at - 1) / children]); at = (at - 1) / children)
      set(at, heap_[(at - 1) / children]);
    set(at, item);
    return at;
  }
  /// The same, up or down.
  void restore(std::size_t at, const Item item) noexcept {
    if (move_up(at, item) != at) return;
    for (; children * at + 1 < heap_.size();) {
      const std::size_t child = best_child(at);
      if (!before(heap_[child], item)) break;
      set(at, heap_[child]);
      at = child;
    }
    set(at, item);
  }

  std::vector<Item> heap_;
  std::vector<std::uint32_t> position_;  // by datum
  std::vector<Worth> worth_;             // by datum: of those that are here
};

}  // namespace fairlead::schedule::darts
