// What a policy may see of the machine, the data and the tasks. Implemented by the engine, and by small fakes
// in tests.
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

/// Where a datum's copy on a node stands. Reads may start from `valid` only.
enum class ReplicaState : std::uint8_t {
  absent,    // no space
  arriving,  // space is reserved and a copy is under way; later readers join it instead of starting another
  valid,     // holds a version; dirty if the home does not
  leaving,   // being written home to make room; a write elsewhere must invalidate it too, or it would be
             // revived stale
};

class Rehearsal;

struct WorkerInfo {
  WorkerId id;
  WorkerKind kind;
  NodeId node;  ///< the memory node on which its tasks reserve; workers of one node share its memory
};

struct NodeInfo {
  NodeId id;
  Bytes capacity;  ///< what tasks may reserve in all
};

/// The machine, the data and the tasks as they are now. Valid only during a call to the policy.
class View {
 public:
  virtual ~View() = default;

  virtual std::span<const WorkerInfo> workers() const = 0;
  /// The nodes on which tasks reserve: those that have workers. Events may tell of others, which copies pass.
  virtual std::span<const NodeInfo> nodes() const = 0;
  virtual Time now() const = 0;
  /// Reproducible random numbers: same events, same numbers.
  virtual Random& random() = 0;

  /// How far two workers are apart, for stealing. On one memory node: how many of the things that only some of its
  /// cores share (package, NUMA node, caches) they do not share. Else `next_node` if their nodes have a wire of
  /// their own, `beyond` if copies between them pass another.
  virtual std::uint32_t distance(WorkerId a, WorkerId b) const {
    return workers()[index(a)].node == workers()[index(b)].node ? 0 : next_node;
  }
  static constexpr std::uint32_t next_node = 100, beyond = 101;

  virtual bool can_run(const Task&, WorkerId) const = 0;
  /// How long the body would take there, as the models know it. Of a worker that cannot run it: nothing that is worth anything.
  virtual Duration estimate(const Task&, WorkerId) const = 0;
  /// Whether that rests on tasks like this one, or on a formula. If not, some should be tried there before
  /// the estimate is relied on.
  virtual bool known(const Task&, WorkerId) const { return true; }

  virtual Bytes bytes(DatumId) const = 0;
  /// `valid` also where the node's workers use the datum in place, in its home.
  virtual ReplicaState residency(DatumId, NodeId) const = 0;
  /// Whether a reader there would find the newest version, or wait for one that is on its way. A home that is
  /// used in place is `valid` also after a task has changed the datum elsewhere, but does not have this.
  virtual bool has_newest(DatumId datum, NodeId node) const {
    const ReplicaState state = residency(datum, node);
    return state == ReplicaState::valid || state == ReplicaState::arriving;
  }
  /// How long bringing the datum to the node would take from its nearest valid copy, on an idle link; 0 if
  /// present.
  virtual Duration transfer_time(DatumId, NodeId) const = 0;
  /// How long so many bytes take from one of nodes() to another, on an idle link.
  virtual Duration transfer_time(Bytes, NodeId from, NodeId to) const = 0;
  /// How long so many bytes take from where the program uses them to these of nodes(), an equal part to each and all at
  /// the same time. 0: nothing is known of what their ways share.
  virtual Duration transfer_time_to_all(Bytes, std::span<const NodeId>) const { return {}; }

  /// The tasks picked for the node's workers and not finished, in the order in which they were picked;
  /// `state` tells picked ones (which hold nothing) from admitted and staged ones (whose data are pinned).
  /// Replaces `out`.
  virtual void pipeline(NodeId, std::vector<const Task*>& out) const = 0;

  /// Row and column of a tile in its matrix; {-1, -1} where data have none.
  struct Coordinates {
    std::int32_t collection = -1, row = -1, column = -1;
  };
  virtual Coordinates coordinates(DatumId) const = 0;
  /// How many rows and columns of tiles a matrix has. All are there before its first task.
  struct Extent {
    std::int32_t rows = 0, columns = 0;
  };
  virtual Extent extent(std::int32_t collection) const = 0;
  /// The accelerator on which the program would have the datum live, counted as accelerators() does; or
  /// no_device. What it wishes of a task is Task::place.
  virtual int advice(DatumId) const { return no_device; }
  /// Who plays what lies ahead under other policies; null: nobody here can.
  virtual Rehearsal* rehearsal() const { return nullptr; }

  Bytes missing_bytes(const Task& task, NodeId node) const {
    Bytes missing = 0;
    for (const Access& access : task.accesses())
      if (reads(access.mode) && residency(access.datum, node) == ReplicaState::absent)
        missing += bytes(access.datum);
    return missing;
  }
};

/// The memory nodes whose workers are not cores, in order: what a program that names devices counts.
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
