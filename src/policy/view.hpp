// The queries of a policy about the machine, the data and the tasks. Implemented by the engine, and by small
// fakes in tests.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include <fairlead/worker_kind.hpp>
#include "base/random.hpp"
#include "base/time.hpp"
#include "data/task.hpp"

namespace fairlead {

/// The state of a datum's replica on a node. Reads may start from `valid` only.
enum class ReplicaState : std::uint8_t {
  absent,     // no space
  in_flight,  // space is reserved and a copy is in flight; later readers join it instead of starting another
  valid,      // holds a version; dirty if the home has an older one
  // being written back to make space; a write elsewhere must also invalidate it, or a stale value would be revived
  evicting,
};

class WhatIfSimulation;

struct WorkerInfo {
  WorkerId id;
  WorkerKind kind;
  NodeId node;  ///< the memory node where its tasks reserve; workers of one node share its memory
};

struct NodeInfo {
  NodeId id;
  Bytes capacity;  ///< what tasks may reserve in total
};

/// The current state of machine, data and tasks. Valid only during a call of the policy.
class View {
 public:
  virtual ~View() = default;

  virtual std::span<const WorkerInfo> workers() const = 0;
  /// The nodes on which tasks reserve memory: those with workers. Notifications may also name other nodes, through
  /// which copies pass.
  virtual std::span<const NodeInfo> nodes() const = 0;
  virtual Time now() const = 0;
  /// Reproducible random numbers: same events, same numbers.
  virtual Random& random() = 0;

  /// The distance between two workers, for stealing. On one memory node: the number of levels (package, NUMA node,
  /// caches) that distinguish its cores and that the two do not share. Otherwise `next_node` if a link connects their
  /// nodes directly, `beyond` if copies pass through another node.
  virtual std::uint32_t distance(WorkerId a, WorkerId b) const {
    return workers()[index(a)].node == workers()[index(b)].node ? 0 : next_node;
  }
  static constexpr std::uint32_t next_node = 100, indirect_node = 101;

  virtual bool can_run(const Task&, WorkerId) const = 0;
  /// The predicted duration of the task's body on the worker. Meaningless if the worker cannot run the task.
  virtual Duration estimate(const Task&, WorkerId) const = 0;
  /// Whether the estimate rests on similar tasks or on a formula. If not, some tasks should be tried there before the
  /// estimate is relied on.
  virtual bool is_estimate_reliable(const Task&, WorkerId) const { return true; }

  virtual Bytes bytes(DatumId) const = 0;
  /// Also `valid` where the node's workers use the datum in place, in its home.
  virtual ReplicaState residency(DatumId, NodeId) const = 0;
  /// Whether a reader on the node finds the newest version, or waits for one in flight. A home that is used in place
  /// stays `valid` when a task has changed the datum elsewhere, but is not newest then.
  virtual bool has_newest(DatumId datum, NodeId node) const {
    const ReplicaState state = residency(datum, node);
    return state == ReplicaState::valid || state == ReplicaState::in_flight;
  }
  /// The time to transfer the datum to the node from its nearest valid replica, on an idle link; 0 if present.
  virtual Duration transfer_time(DatumId, NodeId) const = 0;
  /// The time to transfer this many bytes from one of nodes() to another, on an idle link.
  virtual Duration transfer_time(Bytes, NodeId from, NodeId to) const = 0;
  /// The time to transfer this many bytes from the program's memory to these of nodes(), an equal part to each,
  /// concurrently. 0: the shared links are unknown.
  virtual Duration transfer_time_to_all(Bytes, std::span<const NodeId>) const { return {}; }

  /// Lists the unfinished tasks picked for the node's workers, in the order in which they were picked; `state`
  /// distinguishes picked ones (which hold nothing) from admitted and staged ones (with pinned data). Replaces `out`.
  virtual void pipeline(NodeId, std::vector<const Task*>& out) const = 0;

  /// The position of a tile in its matrix; -1 for data that are not tiles.
  struct Coordinates {
    std::int32_t collection = -1, row = -1, column = -1;
  };
  virtual Coordinates coordinates(DatumId) const = 0;
  /// The number of rows and columns of tiles of a matrix. All tiles are registered before its first task.
  struct Extent {
    std::int32_t rows = 0, columns = 0;
  };
  virtual Extent extent(std::int32_t collection) const = 0;
  /// The accelerator where the datum should reside, numbered as in accelerators(), or no_device. Hints for tasks are in
  /// Task::place.
  virtual int advice(DatumId) const { return no_device; }
  /// The what-if simulator for candidate policies; null: not available.
  virtual WhatIfSimulation* what_if_simulation() const { return nullptr; }

  Bytes missing_bytes(const Task& task, NodeId node) const {
    Bytes missing = 0;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && residency(access.datum, node) == ReplicaState::absent)
        missing += bytes(access.datum);
    return missing;
  }
};

/// The memory nodes with workers other than CPU cores, in order. Programs number accelerators in this order.
inline std::vector<NodeId> accelerators(const View& view) {
  std::vector<NodeId> found;
  for (const NodeInfo& node : view.nodes())
    for (const WorkerInfo& worker : view.workers())
      if (worker.node == node.id && worker.kind != WorkerKind::cpu) {
        found.push_back(node.id);
        break;
      }
  return found;
}

}  // namespace fairlead
