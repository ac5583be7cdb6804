// The data that each memory node lacks for the ready tasks, and therefore the datum that it should load next. The sums
// of DARTS's Algorithm 3 are updated when a task becomes ready or leaves, and when a datum arrives or leaves. Also
// holds the tasks planned for each node.
//
// A slot is a node's position in View::nodes().
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/data_on_nodes.hpp"
#include "schedule/index/data_users.hpp"
#include "schedule/index/loading_order.hpp"
#include "schedule/index/planned_tasks.hpp"
#include "schedule/index/unlisted_ready_tasks.hpp"

namespace fairlead::schedule {

class ReadyIndex {
 public:
  void attach(View& view);
  Slot slots() const noexcept { return static_cast<Slot>(nodes_.size()); }
  /// no_slot for nodes without workers.
  Slot slot_of(NodeId node) const noexcept {
    return index(node) < slot_of_.size() ? slot_of_[index(node)] : no_slot;
  }

  // ---- tasks

  /// Creates a record of the task, in no list, with the data that each node lacks.
  DartsTask& make(Task& task);
  void to_ready(DartsTask& held);
  void to_planned(DartsTask& held, Slot slot);
  /// Defers the task: it is not considered until it is made ready.
  void defer(DartsTask& held);
  /// Removes the task from its list. Data that only this planned task needed become missing again, unless `awaited`:
  /// then the task was picked and its data are in flight.
  void take_out(DartsTask& held, bool awaited);
  void release(DartsTask& held) { users_.release(held); }
  /// Changes the bonus for later updates of the task's tile.
  void set_bonus(DartsTask& held, std::int64_t bonus);
  /// Recomputes the data that each node lacks for a task in no list.
  void count_missing(DartsTask& held);
  /// Removes a lost worker. `stranded` receives the tasks planned for the node that its other workers cannot run. Such
  /// ready tasks leave the node's sums.
  void worker_lost(WorkerId worker, Slot slot, std::vector<DartsTask*>& stranded);

  const DartsTaskList& deferred_tasks() const noexcept { return aside_; }
  const DartsTaskList& planned_tasks(Slot slot) const noexcept { return nodes_[slot].planned; }

  // ---- data

  /// The datum now has space on the node.
  void datum_arrived(DatumId datum, Slot slot);
  /// The datum no longer has space; `awaited`: a picked task will load it again.
  void datum_left(DatumId datum, Slot slot, bool awaited);
  /// Sets whether a picked task will load the datum.
  void set_awaited(DatumId datum, Slot slot, bool awaited);
  bool is_being_loaded(DatumId datum, Slot slot) { return data_.at(datum, slot).awaited; }
  bool resident(DatumId datum, Slot slot) { return data_.at(datum, slot).resident; }
  /// The datum was removed, and its id may be reused.
  void forget(DatumId datum);
  /// The transfer time of the datum changed, because copies appeared or vanished elsewhere.
  void transfer_changed(DatumId datum, Slot except);
  /// True if the datum is in dataNotInMem of the node, provided that a ready task uses it.
  bool missing(DatumId datum, Slot slot) { return !data_.at(datum, slot).present; }
  std::uint32_t planned_users(DatumId datum, Slot slot) { return data_.at(datum, slot).planned; }
  /// Tasks planned for the node that use the datum, in order of release.
  void planned_users(DatumId datum, Slot slot, std::vector<DartsTask*>& out);
  /// Data without space on the node that its planned tasks use, in task order, at most `most`.
  std::span<const DatumId> planned_lacks(Slot slot, std::size_t most) {
    return nodes_[slot].planned.lacked(most, [&](DatumId datum) { return !resident(datum, slot); });
  }

  // ---- decisions

  /// Returns and forgets the ready tasks that lack no data on the node, in order of release. The caller must plan all
  /// of them.
  void take_free(Slot slot, std::vector<DartsTask*>& out) { nodes_[slot].others.take_free(out); }
  /// The best datum to load; null if no datum enables a task, alone or with one more.
  const LoadPriority* best(Slot slot) { return nodes_[slot].order.best(); }
  /// S0(datum): the tasks that lack only this datum, in order of release.
  void s0(DatumId datum, Slot slot, std::vector<DartsTask*>& out);
  /// The most urgent task of S1(datum): those that lack it and one more.
  DartsTask* most_urgent_of_s1(DatumId datum, Slot slot);
  /// The most urgent ready task that lacks three data or more.
  DartsTask* most_urgent_incomplete(Slot slot) { return nodes_[slot].others.most_urgent_incomplete(); }

 private:
  struct Node {
    NodeId id;
    std::vector<WorkerId> workers;  // workers that are not lost
    PlannedTasks planned;
    LoadingOrder order;
    UnlistedReadyTasks others;
  };

  void first_use(DatumId datum);
  bool may_be_missing(DatumId datum);
  bool can_run_there(const Task& task, Slot slot) const;
  /// Calls f(datum, use) with each use that the node lacks.
  template <class F>
  void for_each_missing(DartsTask& held, Slot slot, F&& f);
  /// Adds the task to the sums of the data that it lacks, or subtracts it.
  void add(DartsTask& held, Slot slot);
  void subtract(DartsTask& held, Slot slot);
  /// The contribution of the task to the sums of one of its data, ns.
  static std::int64_t work(const DartsTask& held, std::uint32_t use, Slot slot) {
    return held.on(slot).work + (held.has_bonus && held.uses()[use].updated ? held.bonus : 0);
  }
  void update_present(DatumId datum, Slot slot);
  /// One of the task's data has arrived at the node.
  void lacks_one_less(DartsTask& held, Slot slot);
  /// One of the task's data, with entry `e`, has left the node.
  void lacks_one_more(DartsTask& held, std::uint32_t lost, Slot slot, DatumOnNode& e);

  View* view_ = nullptr;
  DataOnNodes data_;
  DataUsers users_;
  std::vector<bool> used_;        // by datum: a task has used it
  std::vector<InputUse> inputs_;  // scratch of make()
  std::vector<Node> nodes_;       // by slot
  std::vector<Slot> slot_of_;     // by node
  DartsTaskList aside_;
  std::size_t ready_ = 0;  // number of tasks in readyTasks
};

template <class F>
void ReadyIndex::for_each_missing(DartsTask& held, Slot slot, F&& f) {
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
