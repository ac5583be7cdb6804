// A held task: the record of a policy that plans loads (DARTS) from ready() to pick(). It states which list the task is
// in and which of its data each node lacks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "base/slab_arena.hpp"
#include "data/task.hpp"

namespace fairlead::schedule {

using Slot = std::uint32_t;  ///< a memory node, as its position in View::nodes()
inline constexpr Slot no_slot = ~Slot{0};

/// An input of a held task. Excluded are pure outputs, and data used in place on all nodes, since they are never
/// loaded.
struct InputUse {
  DatumId datum : 31 = DatumId{};
  bool updated : 1 = false;  ///< read and written
};

/// The state of a held task on one node.
struct OnNode {
  static constexpr std::uint32_t unusable = (1u << 30) - 1;
  std::int64_t work = 0;           ///< ns of the task there, at least 1
  std::uint32_t lacks = 0;         ///< bit i: use i is in dataNotInMem; invalid if there are too many uses
  std::uint32_t missing : 30 = 0;  ///< inputs in dataNotInMem; `unusable` if no worker of the node can run it
  bool listed_free : 1 = false;    ///< in the node's list of tasks that lack no data
  bool listed_far : 1 = false;     ///< in the node's heap of tasks that lack three data or more
  bool usable() const noexcept { return missing != unusable; }
};

struct DartsTask {
  enum class Where : std::uint8_t {
    nowhere,   // being created or moved
    ready,     // readyTasks
    planned,   // plannedTasks of `planned_on`
    deferred,  // deferred by a variant
  };
  // Accessed only when the task is planned or set aside.
  DartsTask* previous = nullptr;
  DartsTask* next = nullptr;
  /// ns of later updates of its tile that wait only for this task; valid if `has_bonus`
  std::int64_t bonus = 0;
  Slot planned_on = no_slot;
  // Accessed, with the nodes and uses after the record, when one of its data arrives or leaves.
  std::uint32_t generation = 1;   ///< of the record, 24 bits; references with another value are stale
  std::uint32_t record : 27 = 0;  ///< index in the pool
  std::uint32_t size_class : 5 = 0;
  std::int32_t priority = 0;
  Where where = Where::nowhere;
  bool has_bonus : 1 = false;
  std::uint8_t node_count : 7 = 0;
  std::uint16_t use_count = 0;
  std::uint64_t order = 0;  ///< order of release
  Task* task = nullptr;

  std::span<OnNode> nodes() noexcept { return {node_array(), node_count}; }  ///< by slot
  OnNode& on(Slot slot) noexcept { return node_array()[slot]; }
  const OnNode& on(Slot slot) const noexcept { return const_cast<DartsTask*>(this)->node_array()[slot]; }
  std::span<InputUse> uses() noexcept { return {use_array(), use_count}; }
  std::span<const InputUse> uses() const noexcept { return const_cast<DartsTask*>(this)->uses(); }
  /// True if OnNode::lacks is valid.
  bool few_uses() const noexcept { return use_count <= 32; }

 private:
  OnNode* node_array() noexcept { return std::launder(reinterpret_cast<OnNode*>(this + 1)); }
  InputUse* use_array() noexcept {
    return std::launder(reinterpret_cast<InputUse*>(reinterpret_cast<OnNode*>(this + 1) + node_count));
  }
};

/// A reference that detects reuse of the record.
struct DartsTaskRef {
  DartsTask* held;
  std::uint32_t generation;
  bool stale() const noexcept { return held->generation != generation; }
};

/// In order of release.
inline bool released_before(const DartsTask* a, const DartsTask* b) noexcept { return a->order < b->order; }
/// Higher priority first, then in order of release.
inline bool more_urgent(const DartsTask& a, const DartsTask& b) noexcept {
  return a.priority != b.priority ? a.priority > b.priority : a.order < b.order;
}

/// A list of tasks in order of insertion; any task can be removed.
class DartsTaskList {
 public:
  class Iterator {
   public:
    explicit Iterator(DartsTask* at) noexcept : at_(at) {}
    DartsTask& operator*() const noexcept { return *at_; }
    Iterator& operator++() noexcept {
      at_ = at_->next;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    DartsTask* at_;
  };
  Iterator begin() const noexcept { return Iterator(front_); }
  static Iterator end() noexcept { return Iterator(nullptr); }
  std::size_t size() const noexcept { return size_; }

  void push_back(DartsTask& held) noexcept {
    held.previous = back_;
    held.next = nullptr;
    (back_ != nullptr ? back_->next : front_) = &held;
    back_ = &held;
    ++size_;
  }
  void erase(DartsTask& held) noexcept {
    (held.previous != nullptr ? held.previous->next : front_) = held.next;
    (held.next != nullptr ? held.next->previous : back_) = held.previous;
    held.previous = held.next = nullptr;
    --size_;
  }

 private:
  DartsTask* front_ = nullptr;
  DartsTask* back_ = nullptr;
  std::size_t size_ = 0;
};

/// A pool of records, each followed by its nodes and uses. Records are reused, and freed only with the pool.
class DartsTaskPool {
 public:
  void set_nodes(std::size_t nodes) { nodes_ = nodes; }
  DartsTask& make(Task& task, std::size_t uses);
  DartsTask& at(std::uint32_t record) const noexcept {
    return slabs_[record / per_slab].at(record % per_slab);
  }
  void release(DartsTask& held) noexcept;
  /// An upper bound of the records' indices.
  std::size_t records() const noexcept { return slabs_.size() * per_slab; }
  /// Calls f with each record, in use or not.
  template <class F>
  void for_each(F&& f) {
    for (const Slab& slab : slabs_)
      for (std::size_t i = 0; i < slab.count; ++i) f(slab.at(i));
  }

 private:
  static constexpr std::size_t classes = 18;  // 4, 8, 16, ... uses: up to 2^19, more than a task can have
  static constexpr std::size_t cache_line = 64;
  static constexpr std::uint32_t per_slab = 512;
  struct Slab {  // compact: read for every record
    std::byte* begin;
    std::uint32_t stride, count;
    DartsTask& at(std::size_t i) const noexcept {
      return *std::launder(reinterpret_cast<DartsTask*>(begin + i * stride));
    }
  };
  void grow(std::size_t size_class);

  std::size_t nodes_ = 1;
  std::uint64_t order_ = 0;
  std::vector<DartsTask*> free_[classes];
  std::size_t made_[classes] = {};
  SlabArena memory_;
  std::vector<Slab> slabs_;
};

}  // namespace fairlead::schedule
