// Memory management: coherence of replicas, copies, evictions, and admission of tasks. It is passive: it decides and
// records, and its caller executes the started copies and reports their ends. Calls append to the caller's `Effects`.
// docs/memory.md shows that it cannot deadlock; comments cite its rules by number.
//
// This class only connects its parts, each of which owns its state: replicas (coherence.hpp), copies (transfers.hpp,
// copy_completion.hpp), evictions (evictor.hpp), tasks (admission.hpp), and smaller ones.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/prefetch.hpp"
#include "memory/admission.hpp"
#include "memory/copy_completion.hpp"
#include "memory/invariants.hpp"
#include "memory/losses.hpp"
#include "memory/prefetches.hpp"

namespace fairlead::memory {

class Memory {
 public:
  Memory(const Topology& topology, Policy& policy) : state_(topology, policy) {}
  /// From now on; see base/deliberate_mistake.hpp.
  void make(DeliberateMistake mistake) noexcept { state_.mistake = mistake; }

  /// Replaces the policy. Before the first admission only.
  void use_policy(Policy& policy) noexcept { state_.use(policy); }
  /// Sets the function that names data in errors; the default is their number.
  void name_by(std::function<std::string(DatumId)> name) { state_.name = std::move(name); }
  /// Registers a datum. Its id is dense, and may be one of a removed datum.
  DatumId add(const DatumSpec& spec) { return state_.add(spec); }
  /// Stops the reuse of ids. Before the first removal.
  void keep_ids() noexcept { state_.data.keep_ids(); }
  /// Sets the accelerator on which the program prefers the datum; no_device: none.
  void advise(DatumId id, int device) noexcept { state_.data.advise(id, device); }
  /// Forgets a datum that no unfinished task uses; its id may be reused. False: copies of it are still in flight;
  /// retry when one ends.
  bool try_remove(DatumId id);

  /// Puts a replica of the datum on the node, as if a task had left it there. `changed`: its home is out of date. No
  /// effect if no space is free. Before the first task: for simulations that start in the middle of a run.
  void place(DatumId id, NodeId node, bool changed);

  /// Reserves the task's whole footprint on the node in one step, or nothing (rule 1). `first`: no admitted task is
  /// ahead in its worker's pipeline, so it may take the whole node and become its claimant (rule 2).
  Admission admit(Task& task, NodeId node, bool first, Effects& effects) {
    return admitter_.admit(task, node, first, effects);
  }
  /// Ends an admission and frees its memory.
  void release(Task& task, TaskOutcome outcome, Effects& effects) {
    admitter_.release(task, outcome, effects);
  }
  /// The finished task switched views: data that it only wrote are visible from now on, data that it read and wrote
  /// are not.
  void view_switched(const Task& task) { admitter_.view_switched(task); }
  /// Turns the admitted task into a hold of the application: its data stay pinned until unhold(); then release() ends
  /// it (rule 9).
  void hold(Task& admitted) { admitter_.hold(admitted); }
  void unhold(Task& held) { admitter_.unhold(held); }
  /// True if another task is changing a datum that this task must change alone.
  bool waits_for_token(const Task& task) const { return admitter_.waits_for_token(task); }
  /// The task no longer waits for memory: it was cancelled, or goes to another node.
  void forget_claim(Task& task) { admitter_.forget_claim(task); }
  /// A task that will never run must not be admitted: its outputs are marked here.
  Poison& poison() noexcept { return poison_; }
  Losses& losses() noexcept { return losses_; }
  /// The datum that an admitted access uses: its own, or that of a partial result.
  DatumId target(const Access& access) const noexcept { return state_.target(access); }
  /// True if a condition of admit() has changed on any node since take_change(): all refused tasks must be retried.
  /// Code that changes such a condition calls note_change().
  bool changed() const noexcept { return state_.changed; }
  bool take_change() noexcept { return std::exchange(state_.changed, false); }
  void note_change() noexcept { state_.note_change(); }

  /// A started copy has ended.
  void landed(Copy& copy, bool succeeded, Effects& effects) {
    completion_.landed(copy, succeeded, effects);
    flushes_.early().go(effects);
  }
  Prefetches& prefetches() noexcept { return prefetches_; }
  const Prefetches& prefetches() const noexcept { return prefetches_; }
  Flushes& flushes() noexcept { return flushes_; }
  const Flushes& flushes() const noexcept { return flushes_; }
  /// Drops every unused replica whose version is also elsewhere, so that a measurement starts with cold memory.
  void drop_clean() { evictor_.drop_clean(); }
  Reductions& reductions() noexcept { return reductions_; }
  FastPathData& fast_path() noexcept { return fast_path_; }
  const Transfers& transfers() const noexcept { return transfers_; }

  // ---- what is where

  const State& state() const noexcept { return state_; }
  const Datum& datum(DatumId id) const noexcept { return state_.data[id]; }
  const MemoryNode& node(NodeId id) const noexcept { return state_.node(id); }
  /// True if workers of `node` use data of the home node in place.
  bool reaches(NodeId node, NodeId home) const noexcept { return state_.reaches(node, home); }
  /// The state of the datum's replica on the node; valid where it is used in place.
  ReplicaState residency(DatumId id, NodeId node) const noexcept { return state_.residency(id, node); }
  /// Prefetches the datum's descriptor into the processor's cache.
  void look_ahead(DatumId id) const noexcept { prefetch<FetchedFor::reading>(&state_.data[id], 128); }
  const Topology& topology() const noexcept { return state_.topology; }
  /// Immutable: any thread may read it.
  const Routes& routes() const noexcept { return state_.routes; }

  /// Throws Error with the first violated invariant. With `idle`, also checks that nothing is pinned.
  void check(bool idle) const { check_invariants(state_, transfers_, idle); }

 private:
  State state_;
  Coherence coherence_{state_};
  Poison poison_{state_};
  Transfers transfers_{state_, coherence_};
  Evictor evictor_{state_, coherence_, transfers_};
  Flushes flushes_{state_, transfers_};
  FastPathData fast_path_{state_, coherence_, transfers_};
  Reductions reductions_{state_, transfers_, poison_};
  Admitter admitter_{state_, coherence_, transfers_, evictor_, flushes_, fast_path_, reductions_, poison_};
  CopyCompletion completion_{state_, coherence_, transfers_, evictor_, flushes_};
  Losses losses_{state_, coherence_, transfers_, completion_, poison_};
  Prefetches prefetches_{state_, coherence_, transfers_, evictor_};
};

}  // namespace fairlead::memory
