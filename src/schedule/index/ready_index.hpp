// What each memory node lacks of the ready tasks, and so which datum it should load next, kept up to date
// instead of computed: the sums that DARTS's Algorithm 3 asks for are changed when a task becomes ready or
// leaves, and when a datum comes or goes. Also who has been planned for which node.
//
// A node is known by its slot, its position in View::nodes().
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/data_on_nodes.hpp"
#include "schedule/index/data_users.hpp"
#include "schedule/index/free_and_far.hpp"
#include "schedule/index/loading_order.hpp"
#include "schedule/index/planned_tasks.hpp"

namespace fairlead::schedule {

class ReadyIndex {
 public:
  void attach(View& view);
  Slot slots() const noexcept { return static_cast<Slot>(nodes_.size()); }
  /// no_slot for nodes that have no workers.
  Slot slot_of(NodeId node) const noexcept {
    return index(node) < slot_of_.size() ? slot_of_[index(node)] : no_slot;
  }

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
  void release(HeldTask& held) { users_.release(held); }
  /// Changes what later updates of its tile count for.
  void set_bonus(HeldTask& held, std::int64_t bonus);
  /// Recomputes what each node lacks for a task that is in no list.
  void count_missing(HeldTask& held);
  /// The node's tasks can no longer run on this worker: `stranded` are those planned for the node that none
  /// of its other workers can run. Ready ones leave the node's sums.
  void worker_lost(WorkerId worker, Slot slot, std::vector<HeldTask*>& stranded);

  const HeldList& tasks_aside() const noexcept { return aside_; }
  const HeldList& planned_tasks(Slot slot) const noexcept { return nodes_[slot].planned; }

  // ---- data

  /// The datum has space on the node.
  void came(DatumId datum, Slot slot);
  /// It has none any more; `awaited`: a picked task will bring it back.
  void went(DatumId datum, Slot slot, bool awaited);
  /// Whether a picked task is to bring it.
  void set_awaited(DatumId datum, Slot slot, bool awaited);
  bool awaited(DatumId datum, Slot slot) { return data_.at(datum, slot).awaited; }
  bool resident(DatumId datum, Slot slot) { return data_.at(datum, slot).resident; }
  /// It was removed: nothing that was found out about it holds for the next datum of that id.
  void forget(DatumId datum);
  /// Bringing it takes another time now: copies appeared or vanished elsewhere.
  void transfer_changed(DatumId datum, Slot except);
  /// In dataNotInMem of the node, if a ready task uses it.
  bool missing(DatumId datum, Slot slot) { return !data_.at(datum, slot).present; }
  std::uint32_t planned_users(DatumId datum, Slot slot) { return data_.at(datum, slot).planned; }
  /// Tasks planned for the node that use the datum, in order of release.
  void planned_users(DatumId datum, Slot slot, std::vector<HeldTask*>& out);
  /// Data that tasks planned for the node use and it has no space for, in their order, `most` at most.
  std::span<const DatumId> planned_lacks(Slot slot, std::size_t most) {
    return nodes_[slot].planned.lacked(most, [&](DatumId datum) { return !resident(datum, slot); });
  }

  // ---- decisions

  /// Ready tasks that need nothing more on the node, in order of release. Forgets them: plan all.
  void take_free(Slot slot, std::vector<HeldTask*>& out) { nodes_[slot].others.take_free(out); }
  /// The best datum to load, if any enables a task alone or with one more.
  const Worth* best(Slot slot) { return nodes_[slot].order.best(); }
  /// S0(datum): the tasks that lack only it, in order of release.
  void s0(DatumId datum, Slot slot, std::vector<HeldTask*>& out);
  /// The most urgent task of S1(datum): of those that lack it and one more.
  HeldTask* most_urgent_of_s1(DatumId datum, Slot slot);
  /// The most urgent ready task that lacks three data or more.
  HeldTask* most_urgent_far(Slot slot) { return nodes_[slot].others.most_urgent_far(); }

 private:
  struct Node {
    NodeId id;
    std::vector<WorkerId> workers;  // those not lost
    PlannedTasks planned;
    LoadingOrder order;
    FreeAndFar others;
  };

  void first_use(DatumId datum);
  bool may_be_missing(DatumId datum);
  bool can_run_there(const Task& task, Slot slot) const;
  /// Calls f(datum, use) with each use that the node lacks.
  template <class F>
  void for_each_missing(HeldTask& held, Slot slot, F&& f);
  /// Adds the task to the sums of the data it lacks, or takes it off.
  void add(HeldTask& held, Slot slot);
  void subtract(HeldTask& held, Slot slot);
  /// What its run on the node counts for in the sums of one of its data.
  static std::int64_t work(const HeldTask& held, std::uint32_t use, Slot slot) {
    return held.on(slot).work + (held.has_bonus && held.uses()[use].updated ? held.bonus : 0);
  }
  void update_present(DatumId datum, Slot slot);
  /// One of its data has come to the node.
  void lacks_one_less(HeldTask& held, Slot slot);
  /// One has left, whose entry is `e`.
  void lacks_one_more(HeldTask& held, std::uint32_t lost, Slot slot, DatumOnNode& e);

  View* view_ = nullptr;
  DataOnNodes data_;
  DataUsers users_;
  std::vector<bool> used_;     // by datum: a task has used it
  std::vector<Use> inputs_;    // scratch of make()
  std::vector<Node> nodes_;    // by slot
  std::vector<Slot> slot_of_;  // by node
  HeldList aside_;
  std::size_t ready_ = 0;  // tasks of readyTasks
};

template <class F>
void ReadyIndex::for_each_missing(HeldTask& held, Slot slot, F&& f) {
  if (held.few_uses()) {
    for (std::uint32_t lacks = held.on(slot).lacks; lacks != 0; lacks &= lacks - 1) {
      const auto use = static_cast<std::uint32_t>(std::countr_zero(lacks));
      f(held.uses()[use].datum, use);
    }
  } else {
    for (std::uint32_t use = 0; use < held.use_count; ++use)
      if (!data_.known(held.uses()[use].datum, slot).present) f(held.uses()[use].datum, use);
  }
}

}  // namespace fairlead::schedule
