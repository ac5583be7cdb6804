// Admission reserves all memory that a task needs on one node in one step, or nothing (rules 1, 2, 7, 11). Release
// frees it in one step.
#pragma once
#include <cstdint>
#include <vector>

#include "memory/evictor.hpp"
#include "memory/fast_path_data.hpp"
#include "memory/flushes.hpp"
#include "memory/reductions.hpp"

namespace fairlead::memory {

/// The result of a request to run a task on a node.
enum class Admission : std::uint8_t {
  // all memory is reserved and pinned; `Task::pending_copies` counts the copies that have not arrived
  admitted,
  no_space,             // no space now; the task holds nothing. Retry when changed() is true
  over_pipeline_share,  // it would fit, but tasks behind the first of a pipeline may pin half of the node at most
  token_taken,          // another task is changing one of its commutative data
  source_in_use,        // a copy still reads the old replica that a newer version would replace
};

/// How an admitted task ends. returned: it did not run, and goes back to the policy.
enum class TaskOutcome : std::uint8_t { succeeded, failed, returned };

class Admitter {
 public:
  /// Message of the check of each access. It fails if the program's dependencies leave two tasks unordered although
  /// one of them writes data that both use.
  static constexpr char in_order[] = "a task is admitted after those that change what it uses";

  Admitter(State& state, Coherence& coherence, Transfers& transfers, Evictor& evictor, Flushes& flushes,
           FastPathData& fast_path, Reductions& reductions, Poison& poison)
      : state_(state),
        coherence_(coherence),
        transfers_(transfers),
        evictor_(evictor),
        flushes_(flushes),
        fast_path_(fast_path),
        reductions_(reductions),
        poison_(poison) {}

  /// See Memory::admit().
  Admission admit(Task& task, NodeId node, bool first, Effects& effects);
  /// Unpins the task's data and frees its scratch; updates versions and poison according to the outcome.
  void release(Task& task, TaskOutcome outcome, Effects& effects);
  /// See Memory::view_switched().
  void view_switched(const Task& task);
  /// See Memory::hold().
  void hold(Task& admitted);
  void unhold(Task& held);
  /// Ends the claims of a task that no longer waits for memory.
  void forget_claim(Task& task);
  /// True if another task is changing a datum that this task must change alone (rule 7).
  bool waits_for_token(const Task& task) const;

 private:
  /// Stores in `sizes_` the bytes of each allocation that the task still needs on the node. Returns the bytes that
  /// its admission would pin there.
  Bytes find_needs(const Task& task, const MemoryNode& node);
  /// Evicts replicas until `sizes_` can be allocated. False if that is impossible now.
  bool make_room(const Task& task, MemoryNode& node, Effects& effects);
  /// Reserves and pins everything; cannot fail after make_room().
  void take(Task& task, MemoryNode& node, Effects& effects);
  void take_access(Task& task, Access& access, MemoryNode& node, Effects& effects);
  void join_copy(Task& task, Datum& datum, Replica& replica, Effects& effects);
  void wait_for_readers(Task& task, Replica& replica);
  bool request_copy(Datum& datum, Replica& to, Task& task, Effects& effects);

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Evictor& evictor_;
  Flushes& flushes_;
  FastPathData& fast_path_;
  Reductions& reductions_;
  Poison& poison_;
  std::vector<Bytes> sizes_;   // scratch: see find_needs()
  std::vector<Replica*> own_;  // scratch: replicas of the task during make_room()
};

}  // namespace fairlead::memory
