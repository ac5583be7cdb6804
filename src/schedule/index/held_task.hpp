// What a policy that plans loads (DARTS) keeps of a task between ready() and pick(): where it stands, and
// which of its data each node lacks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "base/slabs.hpp"
#include "data/task.hpp"

namespace fairlead::schedule {

using Slot = std::uint32_t;  ///< a memory node, as its position in View::nodes()
inline constexpr Slot no_slot = ~Slot{0};

/// An input of a held task. Pure outputs are not inputs, nor what is used in place on all nodes: nothing is loaded
/// for them.
struct Use {
  DatumId datum : 31 = DatumId{};
  bool updated : 1 = false;  ///< written too
};

/// A held task as one node sees it.
struct OnNode {
  static constexpr std::uint32_t unusable = (1u << 30) - 1;
  std::int64_t work = 0;           ///< ns that it takes there, at least 1
  std::uint32_t lacks = 0;         ///< bit i: its i-th use is in dataNotInMem; unless it has too many uses
  std::uint32_t missing : 30 = 0;  ///< inputs in dataNotInMem; `unusable` if no worker of the node can run it
  bool listed_free : 1 = false;    ///< in the node's list of tasks that need nothing more
  bool listed_far : 1 = false;     ///< in the node's heap of tasks that need three data or more
  bool usable() const noexcept { return missing != unusable; }
};

struct HeldTask {
  enum class Where : std::uint8_t {
    nowhere,  // being made or taken out
    ready,    // readyTasks
    planned,  // plannedTasks of `planned_on`
    aside,    // held back by a variant
  };
  // Looked at, and set, only when the task is planned or set aside.
  HeldTask* previous = nullptr;
  HeldTask* next = nullptr;
  std::int64_t bonus = 0;  ///< ns of later updates of its tile that only wait for this one, if `has_bonus`
  Slot planned_on = no_slot;
  // Looked at, with the nodes and uses behind it, when one of its data comes or goes.
  std::uint32_t generation = 1;   ///< of the record, 24 bits: with another one, references to it are void
  std::uint32_t record : 27 = 0;  ///< the pool's number of it
  std::uint32_t size_class : 5 = 0;
  std::int32_t priority = 0;
  Where where = Where::nowhere;
  bool has_bonus : 1 = false;
  std::uint8_t node_count : 7 = 0;
  std::uint16_t use_count = 0;
  std::uint64_t order = 0;  ///< of release
  Task* task = nullptr;

  std::span<OnNode> nodes() noexcept { return {node_array(), node_count}; }  ///< by slot
  OnNode& on(Slot slot) noexcept { return node_array()[slot]; }
  const OnNode& on(Slot slot) const noexcept { return const_cast<HeldTask*>(this)->node_array()[slot]; }
  std::span<Use> uses() noexcept { return {use_array(), use_count}; }
  std::span<const Use> uses() const noexcept { return const_cast<HeldTask*>(this)->uses(); }
  /// Whether OnNode::lacks says which uses are missing.
  bool few_uses() const noexcept { return use_count <= 32; }

 private:
  OnNode* node_array() noexcept { return std::launder(reinterpret_cast<OnNode*>(this + 1)); }
  Use* use_array() noexcept {
    return std::launder(reinterpret_cast<Use*>(reinterpret_cast<OnNode*>(this + 1) + node_count));
  }
};

/// A reference that notices when the record serves another task.
struct HeldRef {
  HeldTask* held;
  std::uint32_t generation;
  bool stale() const noexcept { return held->generation != generation; }
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
  class Iterator {
   public:
    explicit Iterator(HeldTask* at) noexcept : at_(at) {}
    HeldTask& operator*() const noexcept { return *at_; }
    Iterator& operator++() noexcept {
      at_ = at_->next;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    HeldTask* at_;
  };
  Iterator begin() const noexcept { return Iterator(front_); }
  static Iterator end() noexcept { return Iterator(nullptr); }
  std::size_t size() const noexcept { return size_; }

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

 private:
  HeldTask* front_ = nullptr;
  HeldTask* back_ = nullptr;
  std::size_t size_ = 0;
};

/// Records with room for their nodes and uses behind them; reused, and freed only with the pool.
class HeldPool {
 public:
  void set_nodes(std::size_t nodes) { nodes_ = nodes; }
  HeldTask& make(Task& task, std::size_t uses);
  HeldTask& at(std::uint32_t record) const noexcept {
    return slabs_[record / per_slab].at(record % per_slab);
  }
  void release(HeldTask& held) noexcept;
  /// All its numbers of records are less.
  std::size_t records() const noexcept { return slabs_.size() * per_slab; }
  /// Calls f with each record in use or not.
  template <class F>
  void for_each(F&& f) {
    for (const Slab& slab : slabs_)
      for (std::size_t i = 0; i < slab.count; ++i) f(slab.at(i));
  }

 private:
  static constexpr std::size_t classes = 18;  // 4, 8, 16, ... uses: up to 2^19, more than a task can have
  static constexpr std::size_t cache_line = 64;
  static constexpr std::uint32_t per_slab = 512;
  struct Slab {  // as small as can be: read for every record
    std::byte* begin;
    std::uint32_t stride, count;
    HeldTask& at(std::size_t i) const noexcept {
      return *std::launder(reinterpret_cast<HeldTask*>(begin + i * stride));
    }
  };
  void grow(std::size_t size_class);

  std::size_t nodes_ = 1;
  std::uint64_t order_ = 0;
  std::vector<HeldTask*> free_[classes];
  std::size_t made_[classes] = {};
  Slabs memory_;
  std::vector<Slab> slabs_;
};

}  // namespace fairlead::schedule
