// Which datum a node should load next, kept up to date instead of computed: for each datum and node the sums
// that Algorithm 3 asks for, changed when a task becomes ready or leaves and when a datum comes or goes. The
// order of the data is repaired only for those that changed, when the node asks (cost per decision:
// logarithmic).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/view.hpp"
#include "schedule/darts/datum_heap.hpp"
#include "schedule/darts/held_task.hpp"

namespace fairlead::schedule::darts {

/// The highest priority of a changing set. After the last task of the highest priority has left it is an
/// upper bound until somebody counts anew.
struct TopPriority {
  std::int32_t value = 0;
  std::uint32_t holders = 0;  // tasks that have it; 0 with a set that is not empty: only a bound

  void add(std::int32_t priority, bool first) noexcept {
    if (first || priority > value) {
      value = priority;
      holders = 1;
    } else if (priority == value) {
      ++holders;
    }
  }
  void remove(std::int32_t priority) noexcept {
    if (priority == value && holders > 0) --holders;
  }
};

class ReadyIndex {
 public:
  void attach(View& view);
  std::size_t slots() const noexcept { return nodes_.size(); }

  // ---- tasks

  /// A record of the task, in no list yet, that knows what each node lacks.
  HeldTask& make(Task& task);
  void to_ready(HeldTask& held);
  void to_planned(HeldTask& held, Slot slot);
  /// Held back: not considered until it is made ready.
  void to_aside(HeldTask& held);
  /// Out of its list. Data that only this planned task was to bring are missing again, unless `awaited`: then
  /// it was picked, and its data are on their way.
  void take_out(HeldTask& held, bool awaited);
  void release(HeldTask& held);
  /// Changes what later updates of its tile count for.
  void set_bonus(HeldTask& held, std::int64_t bonus);

  /// Recomputes what each node lacks for a task that is in no list.
  void count_missing(HeldTask& held);
  /// The node's tasks can no longer run on this worker; tasks that only it could run there leave the node's
  /// sums.
  void worker_lost(WorkerId worker, Slot slot);

  const HeldList& ready_tasks() const noexcept { return ready_; }
  const HeldList& tasks_aside() const noexcept { return aside_; }
  const HeldList& planned_tasks(Slot slot) const noexcept { return nodes_[slot].planned; }

  // ---- data

  /// The datum has space on the node.
  void came(DatumId datum, Slot slot);
  /// It has none any more; `awaited`: a picked task will bring it back.
  void went(DatumId datum, Slot slot, bool awaited);
  /// Whether a picked task is to bring it.
  void set_awaited(DatumId datum, Slot slot, bool awaited);
  bool awaited(DatumId datum, Slot slot) { return entry(datum, slot).awaited; }
  bool resident(DatumId datum, Slot slot) { return entry(datum, slot).resident; }
  /// Bringing it takes another time now: copies appeared or vanished elsewhere.
  void transfer_changed(DatumId datum, Slot except);
  /// In dataNotInMem of the node, if a ready task uses it.
  bool missing(DatumId datum, Slot slot) { return !entry(datum, slot).present; }
  std::uint32_t planned_users(DatumId datum, Slot slot) { return entry(datum, slot).planned; }
  /// Tasks of plannedTasks of the node that use the datum, in no particular order.
  void planned_users(DatumId datum, Slot slot, std::vector<HeldTask*>& out);

  // ---- decisions

  /// Ready tasks that need nothing more on the node, in order of release. Forgets them: plan all.
  void take_free(Slot slot, std::vector<HeldTask*>& out);
  /// The best datum to load, if any enables a task alone or with one more.
  const Worth* best(Slot slot);
  /// S0(datum), in order of release.
  void enabled(DatumId datum, Slot slot, std::vector<HeldTask*>& out);
  /// The most urgent task of S1(datum).
  HeldTask* best_with_one_more(DatumId datum, Slot slot);
  /// The most urgent ready task that needs three data or more.
  HeldTask* best_far(Slot slot);

 private:
  struct OrderFlags {
    bool in = false;      // in the heap
    bool listed = false;  // among the changed
  };
  /// The best datum first; those that changed since it was looked at are not in their place.
  struct Order {
    DatumHeap heap;
    std::vector<DatumId> changed;
  };
  /// A datum as one node sees it.
  struct Entry {
    std::int64_t work = 0, left = 0;  // of S0; of all ready users
    TopPriority top0, top1;
    std::uint32_t s0 = 0, s1 = 0;
    std::uint32_t planned = 0;  // tasks of the node's plannedTasks that use it
    bool present = false;       // resident, awaited or to be brought by a planned task
    bool resident = false;      // has space there, or is used in place
    bool in_place = false;      // always resident
    bool awaited = false;       // a picked task that is not admitted will bring it
    bool asked = false;         // whether it is used in place is known
    OrderFlags by_s0, by_s1;    // where it stands in the node's two orders
  };
  /// A task that needed three data or more when it was listed.
  struct Far : HeldRef {
    std::int32_t priority;
    bool operator<(const Far& other) const noexcept {  // less urgent
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  struct Node {
    NodeId id;
    std::vector<WorkerId> workers;
    HeldList planned;
    Order by_s0;  // data that enable a task alone
    Order by_s1;  // those that enable one with one more; looked at only when there is none of the former
    std::vector<HeldRef> free;
    std::vector<Far> far;  // a heap, most urgent first
  };
  struct User {
    HeldTask* held;
    std::uint32_t use;
  };

  Entry& entry(DatumId datum, Slot slot) {
    if (index(datum) >= users_.size()) grow(datum);
    return entries_[index(datum) * nodes_.size() + slot];
  }
  void grow(DatumId datum);
  void first_use(DatumId datum);
  void note(DatumId datum, Slot slot, Entry& e) {
    if (e.s0 > 0 || e.by_s0.in)
      list(datum, e.by_s0, nodes_[slot].by_s0);
    else
      list(datum, e.by_s1, nodes_[slot].by_s1);
  }
  static void list(DatumId datum, OrderFlags& flags, Order& order) {
    if (std::exchange(flags.listed, true)) return;
    order.changed.push_back(datum);
  }
  void repair_s0(Slot slot);
  void repair_s1(Slot slot);
  const Worth* top(Order& order, Slot slot, TopPriority Entry::*priority);
  /// Adds the task to the sums of the data it lacks, or takes it off (`sign` -1).
  void count(HeldTask& held, Slot slot, int sign);
  void add_s0(Entry& e, const HeldTask& held, const Use& use, Slot slot, int sign);
  void add_s1(Entry& e, const HeldTask& held, int sign);
  void list_if_free_or_far(HeldTask& held, Slot slot);
  void update_present(DatumId datum, Slot slot);
  Worth worth(DatumId datum, Slot slot);
  void recount_priority(DatumId datum, Slot slot);

  View* view_ = nullptr;
  std::vector<Node> nodes_;
  std::vector<Entry> entries_;            // by datum, slot
  std::vector<std::vector<User>> users_;  // by datum: held tasks, ready or planned
  std::vector<bool> used_;                // by datum: a task has used it
  HeldPool pool_;
  HeldList ready_, aside_;
};

}  // namespace fairlead::schedule::darts
