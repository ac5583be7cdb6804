// DARTS, data-aware reactive task scheduling: first choose the datum whose loading enables most work per
// time, then plan the tasks that it enables. Gonthier, Marchal, Thibault 2023, section 5: Algorithm 3 and the
// eviction of 5.4. The sums that the algorithm asks for are kept by ReadyIndex.
//
// Keyed by memory node, k: the workers of a node share dataNotInMem, plannedTasks and taskBuffer. Fixed here,
// where the paper is silent: last tie-breaks are the lowest datum id and the task released first; S0 is
// planned in order of release; ready tasks that need nothing more are planned before any datum is chosen.
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

  Interest interests() const override { return Interest::progress | Interest::residency; }

  void ready(Task& task, WorkerId released_by) override;
  void returned(Task& task) override;
  void cancelled(Task& task) override;
  void worker_lost(WorkerId worker) override;
  void finished(Task& task, WorkerId worker, Duration) override;
  void reserved(DatumId datum, NodeId node) override;
  void loaded(DatumId datum, NodeId node) override;
  void dropped(DatumId datum, NodeId node, DropReason why) override;
  void removed(DatumId datum) override { index_.forget(datum); }

  Task* pick(WorkerId worker, bool must) override;
  DatumId victim(NodeId node, Candidates& candidates) override;
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override;

  // ---- for tests and pictures

  /// plannedTasks of the node. Replaces `out`.
  void planned(NodeId node, std::vector<const Task*>& out) const;
  /// The datum is in dataNotInMem of the node if a ready task uses it.
  bool missing(DatumId datum, NodeId node) { return index_.missing(datum, index_.slot_of(node)); }
  /// Searches that Algorithm 3 made, by S0 or S1.
  std::uint64_t decisions() const noexcept { return decisions_; }

 protected:
  void attached() override;
  /// Puts a task in no list among the ready ones. Variants may set it aside instead.
  virtual void enter(HeldTask& held) { index_.to_ready(held); }
  /// There is nothing else for the node to do: true if a task that was set aside is ready now.
  virtual bool recall(Slot) { return false; }
  ReadyIndex& tasks() noexcept { return index_; }

 private:
  Slot slot_of(WorkerId worker) const { return index_.slot_of(view().workers()[index(worker)].node); }
  const std::vector<const Task*>& task_buffer(Slot k);
  bool fill(Slot k);
  void plan(HeldTask& held, Slot k);
  Task* take(HeldTask& held, Slot k);
  Task& forget(HeldTask& held);
  Task* take_planned(Slot from, WorkerId worker);
  Slot least_queued_free(const HeldTask& held);
  bool awaited_by_buffer(DatumId datum, Slot k, const Task* except);
  void forget_awaited(const Task& task, Slot k);
  const NextUses& next_uses(Slot k);

  DartsRules rules_;
  ReadyIndex index_;
  std::vector<NextUses> next_uses_;  // by slot
  std::uint64_t decisions_ = 0;
  std::vector<HeldTask*> found_;
  std::vector<const Task*> task_buffer_;  // of the slot that was asked for last
};

std::unique_ptr<Policy> make_darts(const PolicyOptions& options);
std::unique_ptr<Policy> make_darts_belady(const PolicyOptions& options);

}  // namespace fairlead::schedule
