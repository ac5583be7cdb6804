// Owner-compute: a task that writes goes to the device on which the written datum lives. A datum lives where
// it was placed when its first writer became ready, until it is staged out there; copies that others read
// change nothing. PaRSEC 2025 (placement), section 3 and 3.1. Which device that is, of data that live
// nowhere, the policies of this folder decide.
//
// What the paper leaves open is decided so. Its text ends ownership also when another device or a core reads
// the datum, which would end it at the first reader: here only eviction does. Of several written data the
// largest that lives somewhere decides, of equal ones the first parameter; then all live there. A reduction
// decides nothing, since it adds to a partial result wherever it runs. Devices are accelerators; a core
// takes tasks by load, but nothing lives there, unless the machine has no accelerators: then the memory nodes
// of cores are the devices. The load of a node is shared by its workers, which take tasks from one queue, the
// most urgent first, then by release. A task that is ready keeps its node although what it writes is staged
// out meanwhile.
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

  Interest interests() const override { return Interest::progress | Interest::residency; }
  void ready(Task& task, WorkerId) override { place(task); }
  void returned(Task& task) override;
  void cancelled(Task& task) override { forget_picked(task); }
  void finished(Task& task, WorkerId worker, Duration) override;
  void worker_lost(WorkerId) override;
  void dropped(DatumId datum, NodeId node, DropReason reason) override;
  void removed(DatumId datum) override { owners_.set(datum, nowhere); }

  Task* pick(WorkerId worker, bool must) override;
  Task* take_any(WorkerId thief) override;
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override;

  /// What the tasks that were placed there and are not over take, by estimate.
  Duration load(NodeId node) const { return nodes_[place_of(node)].load; }

 protected:
  /// A memory node: its position among the view's.
  using Place = std::size_t;
  static constexpr Place nowhere = OwnerTable::nobody;

  /// Where a task goes that writes nothing which lives anywhere; nowhere, or where it cannot run: by load.
  virtual Place first_touch(const Task&) { return nowhere; }

  // For that one:

  /// Of the task that is being placed: it can run there, and data can live there.
  bool possible(Place place) const;
  std::span<const Candidate> candidates() const noexcept { return candidates_; }
  /// The accelerator of that number; nowhere if there is none.
  Place device(int number) const;
  /// Where the datum lives; else where it is to, if the program says so; else where a copy is.
  Place home_of(DatumId datum) const;
  Place owner(DatumId datum) const { return owners_.of(datum); }
  /// The access makes a datum live where the task runs.
  static bool places(const Access& access) noexcept {
    return writes(access.mode) && access.mode != AccessMode::reduction;
  }
  void attached() override;

 private:
  struct Node {
    NodeId id{};
    std::vector<WorkerId> workers;  // that are not lost
    UrgencyQueue queue;             // ready tasks
    Duration load{};                // estimates of its tasks that are not over
    bool owns = false;              // data can live there
  };
  /// A task that is ready, or picked and not over.
  struct Placed {
    Place place = 0;
    Duration charge{};  // what it adds to the load
  };

  void place(Task& task);
  Place choose(const Task& task);
  Place owner_of_written(const Task& task) const;
  Place by_load(const Task& task);
  void find_candidates(const Task& task);
  void charge(Placed& placed, Place place, Duration duration);
  bool forget_picked(const Task& task);
  Task* give_out(Task& task);
  void claim(const Task& task, Place place);
  bool is_there(DatumId datum, const Node& node) const;
  Place place_of(NodeId id) const noexcept;

  LoadRule rule_;
  OwnerTable owners_;
  std::deque<Node> nodes_;              // as the view lists them
  std::vector<Place> place_of_worker_;  // by id
  std::vector<Place> devices_;          // accelerators, as programs count them
  TaskRecords<Placed> records_;
  std::vector<Candidate> candidates_;  // for the task that is being placed
};

}  // namespace fairlead::schedule
