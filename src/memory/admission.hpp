// A task gets all the memory it needs on one node in one step, or holds nothing (rules 1, 2, 7, 11), and gives
// it back in one.
#pragma once
#include <cstdint>
#include <vector>

#include "memory/evictor.hpp"
#include "memory/flushes.hpp"
#include "memory/lane_data.hpp"
#include "memory/reductions.hpp"

namespace fairlead::memory {

/// The answer to a task that wants to run on a node.
enum class Admission : std::uint8_t {
  admitted,  // everything is reserved and pinned; `Task::pending_copies` says how many copies it still waits
             // for
  no_room,   // not now; the task holds nothing. Try again when changed() says so
  over_share,   // it would fit, but tasks that wait behind another may pin half of the node only
  token_taken,  // another task is changing one of its commutative data
  being_read,   // what it would replace by a newer version is the source of a copy under way
};

/// How a task that was admitted ends.
enum class Outcome : std::uint8_t { succeeded, failed, returned };

class Admitter {
 public:
  Admitter(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor, Flushes& flushes,
           LaneData& lane, Reductions& reductions, Poison& poison)
      : state_(state),
        coherence_(coherence),
        transfers_(transfers),
        evictor_(evictor),
        flushes_(flushes),
        lane_(lane),
        reductions_(reductions),
        poison_(poison) {}

  Admission admit(Task& task, NodeId node, bool first, Effects& effects);
  void release(Task& task, Outcome outcome, Effects& effects);
  void view_switched(const Task& task);
  void hold(Task& admitted);
  void unhold(Task& held);
  void forget_claim(Task& task);
  bool waits_for_token(const Task& task) const;

 private:
  /// Puts what the task lacks on the node into `sizes_`; returns the bytes that its admission would pin
  /// there.
  Bytes find_needs(const Task& task, const MemoryNode& node);
  bool make_room(const Task& task, MemoryNode& node, Effects& effects);
  void take(Task& task, MemoryNode& node, Effects& effects);
  void take_access(Task& task, Access& access, MemoryNode& node, Effects& effects);
  void join_copy(Task& task, Datum& datum, Replica& replica, Effects& effects);
  void wait_for_readers(Task& task, Replica& replica);
  bool bring(Datum& datum, Replica& to, Task& task, Effects& effects);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
  Flushes& flushes_;
  LaneData& lane_;
  Reductions& reductions_;
  Poison& poison_;
  std::vector<Bytes> sizes_;   // scratch
  std::vector<Replica*> own_;  // scratch
};

}  // namespace fairlead::memory
