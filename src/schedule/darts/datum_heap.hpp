// The data of dataNotInMem of one node, best to load first: Algorithm 3, line 6, as a heap that knows where
// each datum is.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
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
};

/// Smallest ratio, then more S0, higher priority, more S1, more work left, lowest id. Exact: no rounding.
inline bool better(const Worth& a, const Worth& b) noexcept {
  __extension__ using Wide = __int128;
  if ((a.s0 == 0) != (b.s0 == 0)) return b.s0 == 0;  // an infinite ratio is the largest
  if (a.s0 != 0) {
    const Wide left = static_cast<Wide>(a.transfer) * b.work, right = static_cast<Wide>(b.transfer) * a.work;
    if (left != right) return left < right;
    if (a.s0 != b.s0) return a.s0 > b.s0;
  }
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.s1 != b.s1) return a.s1 > b.s1;
  if (a.left != b.left) return a.left > b.left;
  return a.datum < b.datum;
}

class DatumHeap {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  const Worth& top() const noexcept { return heap_.front(); }

  /// Enters the datum, or changes its worth.
  void put(const Worth& worth) {
    if (index(worth.datum) >= position_.size()) position_.resize(index(worth.datum) + 1, none);
    std::uint32_t at = position_[index(worth.datum)];
    if (at == none) {
      at = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(worth);
    }
    restore(at, worth);
  }
  /// Removes the datum, if it is here.
  void erase(DatumId datum) {
    if (index(datum) >= position_.size() || position_[index(datum)] == none) return;
    const std::uint32_t at = position_[index(datum)];
    position_[index(datum)] = none;
    const Worth last = heap_.back();
    heap_.pop_back();
    if (at < heap_.size()) restore(at, last);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void set(std::size_t at, const Worth& worth) noexcept {
    heap_[at] = worth;
    position_[index(worth.datum)] = static_cast<std::uint32_t>(at);
  }
  /// Places `worth` at `at` or where the order demands, up or down.
  void restore(std::size_t at, const Worth& worth) noexcept {
    while (at > 0 && better(worth, heap_[(at - 1) / 2])) {
      set(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && better(heap_[child + 1], heap_[child])) ++child;
      if (!better(heap_[child], worth)) break;
      set(at, heap_[child]);
      at = child;
    }
    set(at, worth);
  }

  std::vector<Worth> heap_;
  std::vector<std::uint32_t> position_;  // by datum
};

}  // namespace fairlead::schedule::darts
