// Owner-compute: a task that writes runs on the device that owns the written datum. A device becomes the owner when the
// datum's first writer becomes ready, and remains so until the datum is evicted from it; copies for readers change
// nothing. PaRSEC 2025 (placement), section 3 and 3.1. The policies of this folder choose the owner of data without
// one.
//
// Where the paper is silent: its text also ends ownership when another device or a core reads the datum, that is at the
// first reader; here only eviction does. With several written data, the owner of the largest one decides, and among
// equals that of the first parameter; then the same device owns them all. A reduction does not decide, since it adds to
// a partial result wherever it runs. Devices are accelerators. Cores get tasks by load but own no data, unless the
// machine has no accelerators: then the memory nodes of cores are the devices. The workers of a node share its load and
// one queue, ordered by priority, then release. A ready task keeps its node even if the data that it writes are
// evicted.
#pragma once
#include <deque>
#include <span>
#include <vector>

#include "policy/policy.hpp"
#include "schedule/index/task_records.hpp"
#include "schedule/index/urgency_queue.hpp"
#include "schedule/placement/load_rule.hpp"
#include "schedule/placement/owner_table.hpp"

namespace fairlead::schedule {

class OwnerCompute : public Policy {
 public:
  explicit OwnerCompute(const PolicyOptions& options) : rule_(options) {}

  Notifications interests() const override { return Notifications::progress | Notifications::residency; }
  void ready(Task& task, WorkerId) override { place(task); }
  void returned(Task& task) override;
  void cancelled(Task& task) override { release_picked(task); }
  void finished(Task& task, WorkerId worker, Duration) override;
  void worker_lost(WorkerId) override;
  void dropped(DatumId datum, NodeId node, DropReason reason) override;
  void removed(DatumId datum) override { owners_.set(datum, no_place); }

  Task* pick(WorkerId worker, bool must) override;
  Task* take_any(WorkerId thief) override;
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override;

  /// The estimated duration of the unfinished tasks placed on the node.
  Duration load(NodeId node) const { return nodes_[place_of(node)].load; }

 protected:
  /// A memory node, as its position in View::nodes().
  using Place = std::size_t;
  static constexpr Place no_place = OwnerTable::no_owner;

  /// The place of a task none of whose written data has an owner. If it is nowhere, or the task cannot run there, the
  /// load rule decides.
  virtual Place first_touch(const Task&) { return no_place; }

  // For use in first_touch():

  /// True if the task being placed can run there, and the node can own data.
  bool is_eligible(Place place) const;
  std::span<const Candidate> candidates() const noexcept { return candidates_; }
  /// The accelerator with that number; nowhere if there is none.
  Place device(int number) const;
  /// The owner of the datum; else the device that the program advises; else a node with a copy.
  Place preferred_place(DatumId datum) const;
  Place owner(DatumId datum) const { return owners_.of(datum); }
  /// True if the access makes the task's node the owner of the datum.
  static bool places(const Access& access) noexcept {
    return writes(access.mode) && access.mode != AccessMode::reduction;
  }
  void attached() override;

 private:
  struct Node {
    NodeId id{};
    std::vector<WorkerId> workers;  // workers that are not lost
    UrgencyQueue queue;             // ready tasks
    Duration load{};                // estimated duration of its unfinished tasks
    bool owns = false;              // the node can own data
  };
  /// A task that is ready, or picked and unfinished.
  struct Placed {
    Place place = 0;
    Duration charge{};  // its contribution to the load
  };

  void place(Task& task);
  Place choose(const Task& task);
  Place owner_of_written_datum(const Task& task) const;
  Place place_by_load(const Task& task);
  void find_candidates(const Task& task);
  void charge(Placed& placed, Place place, Duration duration);
  bool release_picked(const Task& task);
  Task* hand_to_worker(Task& task);
  void set_owner(const Task& task, Place place);
  bool has_copy_or_owns(DatumId datum, const Node& node) const;
  Place place_of(NodeId id) const noexcept;

  LoadRule rule_;
  OwnerTable owners_;
  std::deque<Node> nodes_;              // in the order of View::nodes()
  std::vector<Place> place_of_worker_;  // by id
  std::vector<Place> devices_;          // accelerators, in the program's numbering
  TaskRecords<Placed> records_;
  std::vector<Candidate> candidates_;  // for the task being placed
};

}  // namespace fairlead::schedule
