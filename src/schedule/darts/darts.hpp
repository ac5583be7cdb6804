// DARTS, data-aware reactive task scheduling: first choose the datum whose loading enables the most work per unit of
// transfer time, then plan the tasks that it enables. Gonthier, Marchal, Thibault 2023, section 5: Algorithm 3 and the
// eviction of 5.4. ReadyIndex maintains the sums.
//
// k denotes a memory node: the workers of a node share dataNotInMem, plannedTasks and taskBuffer. Where the paper is
// silent: ties go to the lowest datum id and the task released first; S0 is planned in order of release; ready tasks
// that lack no data are planned first.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/policy.hpp"
#include "schedule/darts/darts_rules.hpp"
#include "schedule/index/next_uses.hpp"
#include "schedule/index/ready_index.hpp"

namespace fairlead::schedule {

class Darts : public Policy {
 public:
  explicit Darts(const DartsRules& rules = {}) : rules_(rules) {}

  Notifications interests() const override { return Notifications::progress | Notifications::residency; }

  void ready(Task& task, WorkerId released_by) override;
  void returned(Task& task) override;
  void cancelled(Task& task) override;
  void worker_lost(WorkerId worker) override;
  void finished(Task& task, WorkerId worker, Duration) override;
  void reserved(DatumId datum, NodeId node) override;
  void arrived(DatumId datum, NodeId node) override;
  void dropped(DatumId datum, NodeId node, DropReason why) override;
  void removed(DatumId datum) override { index_.forget(datum); }

  Task* pick(WorkerId worker, bool must) override;
  DatumId victim(NodeId node, EvictionCandidates& candidates) override;
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override;

  // ---- for tests and graph pictures

  /// Replaces `out` by plannedTasks of the node.
  void planned(NodeId node, std::vector<const Task*>& out) const;
  /// Whether the datum, used by a ready task, is in dataNotInMem of the node.
  bool missing(DatumId datum, NodeId node) { return index_.missing(datum, index_.slot_of(node)); }
  /// Searches of Algorithm 3 that chose a datum, by S0 or S1.
  std::uint64_t decisions() const noexcept { return decisions_; }

 protected:
  void attached() override;
  /// Makes a task ready that is in no list. Variants may defer it.
  virtual void enter(DartsTask& held) { index_.to_ready(held); }
  /// Called when the node has nothing else to do; returns true if a deferred task became ready.
  virtual bool recall(Slot) { return false; }
  ReadyIndex& tasks() noexcept { return index_; }

 private:
  Slot slot_of(WorkerId worker) const { return index_.slot_of(view().workers()[index(worker)].node); }
  const std::vector<const Task*>& task_buffer(Slot k);
  bool fill(Slot k);
  void plan(DartsTask& held, Slot k);
  Task* take(DartsTask& held, Slot k);
  Task& forget(DartsTask& held);
  Task* take_planned(Slot from, WorkerId worker);
  Slot least_queued_free(const DartsTask& held);
  bool awaited_by_buffer(DatumId datum, Slot k, const Task* except);
  void forget_awaited(const Task& task, Slot k);
  const NextUses& next_uses(Slot k);

  DartsRules rules_;
  ReadyIndex index_;
  std::vector<NextUses> next_uses_;  // by slot
  std::uint64_t decisions_ = 0;
  std::vector<DartsTask*> found_;
  std::vector<const Task*> task_buffer_;  // of the slot of the last call
};

std::unique_ptr<Policy> make_darts(const PolicyOptions& options);
std::unique_ptr<Policy> make_darts_belady(const PolicyOptions& options);

}  // namespace fairlead::schedule
