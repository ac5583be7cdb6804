// DARTS, data-aware reactive task scheduling: first choose the datum whose loading enables most work per
// time, then plan the tasks that it enables. Gonthier, Marchal, Thibault 2023, section 5: Algorithm 3 and the
// eviction of 5.4.
//
// Keyed by memory node: the workers of a node share dataNotInMem, plannedTasks and taskBuffer. Fixed here,
// where the paper is silent: last tie-breaks are the lowest datum id and the task released first; S0 is
// planned in order of release; ready tasks that need nothing more are planned before any datum is chosen.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/policy.hpp"
#include "schedule/darts/ready_index.hpp"

namespace fairlead::schedule {

/// Which datum leaves.
enum class DartsEviction : std::uint8_t {
  published,  // of no use to taskBuffer and of least use to plannedTasks; else Belady on taskBuffer
  belady,     // whose next use in taskBuffer, then plannedTasks, is furthest
};

struct DartsOptions {
  DartsEviction eviction = DartsEviction::published;
};

class Darts : public Policy {
 public:
  explicit Darts(DartsOptions options = {}) : options_(options) {}

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

  /// plannedTasks of the node, in order. Replaces `out`.
  void planned(NodeId node, std::vector<const Task*>& out) const;
  /// The datum is in dataNotInMem of the node if a ready task uses it.
  bool missing(DatumId datum, NodeId node) { return index_.missing(datum, slot_of(node)); }
  /// Data chosen so far, by S0 or S1: the searches that Algorithm 3 made.
  std::uint64_t decisions() const noexcept { return decisions_; }

 protected:
  using Slot = darts::Slot;
  using HeldTask = darts::HeldTask;

  void attached() override;
  /// Puts a task in no list among the ready ones. Variants may set it aside instead.
  virtual void enter(HeldTask& held) { index_.to_ready(held); }
  /// There is nothing else for the node to do: true if a task that was set aside is ready now.
  virtual bool recall(Slot) { return false; }
  darts::ReadyIndex& tasks() noexcept { return index_; }

 private:
  /// When a datum is used next, as far as the node's plans say.
  struct NextUse {
    std::uint64_t stamp = 0;  // valid if it is the node's
    std::uint32_t position = 0;
  };
  struct Node {
    NodeId id;
    std::vector<WorkerId> workers;  // those not lost
    bool one_worker = false;        // from the start: it can run whatever is planned
    std::vector<NextUse> next_use;  // by datum
    std::uint64_t stamp = 0;        // of the last computation
    bool plans_changed = true;      // since then
    // What upcoming() found, for the other workers of the node and as long as it stays true.
    std::vector<DatumId> lacked;
    std::size_t lacked_asked = 0;  // at most so many
    std::uint64_t lacked_version = 0;
  };

  Slot slot_of(NodeId node) const {
    return index(node) < slots_.size() ? slots_[index(node)] : darts::no_slot;
  }
  Slot slot_of(WorkerId worker) const { return slot_of(view().workers()[index(worker)].node); }
  bool fill(Slot slot);
  void plan(HeldTask& held, Slot slot);
  Task* take(HeldTask& held, Slot slot);
  Task* take_planned(Slot slot, WorkerId worker);
  Slot least_queued_free(const HeldTask& held);
  bool awaited_by_pipeline(DatumId datum, Slot slot, const Task* except);
  void forget_awaited(const Task& task);
  void compute_next_uses(Slot slot);
  void find_lacked(Slot slot);

  DartsOptions options_;
  darts::ReadyIndex index_;
  std::vector<Slot> slots_;  // by node
  std::vector<Node> nodes_;  // by slot
  std::uint64_t decisions_ = 0;
  std::vector<HeldTask*> found_;
  std::vector<const Task*> pipeline_;
};

std::unique_ptr<Policy> make_darts();
std::unique_ptr<Policy> make_darts_belady();

}  // namespace fairlead::schedule
