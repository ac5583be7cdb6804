// A heap whose items are notified of their positions, so that any of them can be moved or removed. Each parent has four
// children, which lie in one or two cache lines.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace fairlead::schedule {

/// `Order` has before(a, b), and moved(item, position), which stores the new position of the item.
template <class Item, class Order>
class IndexedHeap {
 public:
  static constexpr std::size_t children = 4;

  bool empty() const noexcept { return items_.empty(); }
  std::size_t size() const noexcept { return items_.size(); }
  const Item& top() const noexcept { return items_.front(); }
  const Item& operator[](std::size_t at) const noexcept { return items_[at]; }
  auto begin() const noexcept { return items_.begin(); }
  auto end() const noexcept { return items_.end(); }

  void push(const Item& item, const Order& order) {
    items_.push_back(item);
    move_up(items_.size() - 1, item, order);
  }
  /// Replaces the item at that position.
  void replace(std::size_t at, const Item item, const Order& order) {
    if (move_up(at, item, order) != at) return;
    for (; children * at + 1 < items_.size();) {
      const std::size_t child = best_child(at, order);
      if (!order.before(items_[child], item)) break;
      set(at, items_[child], order);
      at = child;
    }
    set(at, item, order);
  }
  /// Replaces the item at that position by one that does not come after it. Returns the new position.
  std::size_t move_up(std::size_t at, const Item item, const Order& order) {
    for (; at > 0 && order.before(item, items_[(at - 1) / children]); at = (at - 1) / children)
      set(at, items_[(at - 1) / children], order);
    set(at, item, order);
    return at;
  }
  void erase(std::size_t at, const Order& order) {
    const Item last = items_.back();
    items_.pop_back();
    if (at < items_.size()) replace(at, last, order);
  }
  /// The first in order of the children of that position, which must exist.
  std::size_t best_child(std::size_t at, const Order& order) const {
    const std::size_t first = children * at + 1, end = std::min(first + children, items_.size());
    std::size_t best = first;
    for (std::size_t child = first + 1; child < end; ++child)
      if (order.before(items_[child], items_[best])) best = child;
    return best;
  }

 private:
  void set(std::size_t at, const Item& item, const Order& order) {
    items_[at] = item;
    order.moved(item, at);
  }
  std::vector<Item> items_;
};

}  // namespace fairlead::schedule
