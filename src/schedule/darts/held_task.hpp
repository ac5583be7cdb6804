// What DARTS keeps for a task between ready() and pick(): where it stands, how many of its data each node
// lacks, and its place in the lists of those data's users.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/task.hpp"

namespace fairlead::schedule::darts {

using Slot = std::uint32_t;  ///< a memory node, as its position in View::nodes()
inline constexpr Slot no_slot = ~Slot{0};

/// An input of a held task. Pure outputs are not inputs: nothing is loaded for them.
struct Use {
  DatumId datum;
  std::uint32_t position : 31;  ///< in the datum's list of users
  std::uint32_t updated : 1;    ///< written too
};

/// A held task as one node sees it.
struct OnNode {
  static constexpr std::uint32_t unusable = ~std::uint32_t{0};
  std::int64_t work = 0;      ///< ns that it takes there, at least 1
  std::uint32_t missing = 0;  ///< inputs in dataNotInMem; `unusable` if no worker of the node can run it
  bool listed_free = false;   ///< in the node's list of tasks that need nothing more
  bool listed_far = false;    ///< in the node's heap of tasks that need three data or more
  bool usable() const noexcept { return missing != unusable; }
};

struct HeldTask {
  enum class Where : std::uint8_t {
    nowhere,  // being made or taken out
    ready,    // readyTasks
    planned,  // plannedTasks of `planned_on`
    aside,    // held back by a variant
  };
  std::uint64_t order = 0;  ///< of release; 0 = this record is free, and old references to it are void
  Where where = Where::nowhere;
  std::uint8_t size_class = 0;
  Slot planned_on = no_slot;
  std::int32_t priority = 0;
  std::span<Use> uses;
  std::span<OnNode> nodes;  ///< by slot
  std::int64_t bonus = 0;   ///< ns of later updates of its tile that only wait for this one
  Task* task = nullptr;
  HeldTask* previous = nullptr;
  HeldTask* next = nullptr;
};

/// A reference that notices when the record serves another task.
struct HeldRef {
  HeldTask* held;
  std::uint64_t order;
  bool stale() const noexcept { return held->order != order; }
};

/// Earlier released first.
inline bool released_before(const HeldTask* a, const HeldTask* b) noexcept { return a->order < b->order; }
/// More urgent first, then earlier released.
inline bool more_urgent(const HeldTask& a, const HeldTask& b) noexcept {
  return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
}

/// Tasks in order of arrival; one can be taken out anywhere.
class HeldList {
 public:
  void push_back(HeldTask& held) noexcept {
    held.previous = back_;
    held.next = nullptr;
    (back_ != nullptr ? back_->next : front_) = &held;
    back_ = &held;
    ++size_;
  }
  void erase(HeldTask& held) noexcept {
    (held.previous != nullptr ? held.previous->next : front_) = held.next;
    (held.next != nullptr ? held.next->previous : back_) = held.previous;
    held.previous = held.next = nullptr;
    --size_;
  }
  HeldTask* front() const noexcept { return front_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return front_ == nullptr; }

 private:
  HeldTask* front_ = nullptr;
  HeldTask* back_ = nullptr;
  std::size_t size_ = 0;
};

/// Records with room for their uses and nodes behind them; reused, and freed only with the pool.
class HeldPool {
 public:
  void set_nodes(std::size_t nodes) { nodes_ = nodes; }
  HeldTask& make(Task& task, std::size_t uses);
  void release(HeldTask& held) noexcept;

 private:
  static constexpr std::size_t classes = 18;  // 4, 8, 16, ... uses: up to 2^19, more than a task can have
  void grow(std::size_t size_class);

  std::size_t nodes_ = 1;
  std::uint64_t order_ = 0;
  std::vector<HeldTask*> free_[classes];
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
};

}  // namespace fairlead::schedule::darts
