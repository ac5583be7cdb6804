// What is where, what moves and what leaves: the coherence of all replicas and the admission of tasks to
// memory. Passive: it decides and records; who calls it carries out the copies it wants started and reports
// how they end. What followed from a call is added to the caller's `Effects`. Why it cannot hang is argued in docs/memory.md, whose rule numbers the comments cite.
//
// This class only wires the parts, each of which writes what is its own: replicas (coherence.hpp), copies
// (transfers.hpp, landing.hpp), who leaves (evictor.hpp), tasks (admission.hpp), and smaller ones.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/prefetch.hpp"
#include "memory/admission.hpp"
#include "memory/invariants.hpp"
#include "memory/landing.hpp"
#include "memory/losses.hpp"
#include "memory/prefetches.hpp"

namespace fairlead::memory {

class Memory {
 public:
  Memory(const Topology& topology, Policy& policy) : state_(topology, policy) {}
  /// From now on; see base/deliberate_mistake.hpp.
  void make(DeliberateMistake mistake) noexcept { state_.mistake = mistake; }

  /// Whom to tell and ask from now on; before the first admission only.
  void use_policy(Policy& policy) noexcept { state_.use(policy); }
  /// How data are called in errors; else by their numbers.
  void name_by(std::function<std::string(DatumId)> name) { state_.name = std::move(name); }
  DatumId add(const DatumSpec& spec) { return state_.add(spec); }
  /// No datum gets the id of another that is gone. Before the first is removed.
  void keep_ids() noexcept { state_.data.keep_ids(); }
  void advise(DatumId id, int device) noexcept { state_.data.advise(id, device); }
  /// Forgets a datum that no unfinished task uses: another may get its id. False: copies of it are still in
  /// flight, try again when one ends.
  bool try_remove(DatumId id);

  /// A copy of the datum on the node, as if tasks had left it there; `changed`: its home does not have what is there.
  /// Nothing happens if there is no space. Before the first task: for what begins in the middle.
  void place(DatumId id, NodeId node, bool changed);

  /// Reserves the task's whole footprint on the node in one step, or nothing (rule 1). `first`: no admitted
  /// task is before it in its worker's pipeline, so it may take the whole node and become its claimant (rule
  /// 2).
  Admission admit(Task& task, NodeId node, bool first, Effects& effects) {
    return admitter_.admit(task, node, first, effects);
  }
  /// Ends what admit() began.
  void release(Task& task, Outcome outcome, Effects& effects) { admitter_.release(task, outcome, effects); }
  /// What the task, which is over, has changed is seen otherwise from now on, as what it has replaced.
  void view_switched(const Task& task) { admitter_.view_switched(task); }
  /// The admitted task is the application's: its data are held until unhold(), after which release() ends
  /// it (rule 9).
  void hold(Task& admitted) { admitter_.hold(admitted); }
  void unhold(Task& held) { admitter_.unhold(held); }
  /// Whether another task is changing what this one has to have alone.
  bool waits_for_token(const Task& task) const { return admitter_.waits_for_token(task); }
  /// The task no longer waits for memory (it was cancelled or given to another node).
  void forget_claim(Task& task) { admitter_.forget_claim(task); }
  /// A task that will never run must not be admitted: what it was to write is marked here.
  Poison& poison() noexcept { return poison_; }
  Losses& losses() noexcept { return losses_; }
  /// The datum whose replica an admitted access is given: its own, or that of a partial result.
  DatumId target(const Access& access) const noexcept { return state_.target(access); }
  /// Something of which admit() makes its answer has changed since take_change(), on whatever node: all that
  /// was refused has to be tried again. Whoever changes such a thing notes it here.
  bool changed() const noexcept { return state_.changed; }
  bool take_change() noexcept { return std::exchange(state_.changed, false); }
  void note_change() noexcept { state_.note_change(); }

  /// A copy that was started has ended.
  void landed(Copy& copy, bool succeeded, Effects& effects) {
    landing_.landed(copy, succeeded, effects);
    flushes_.early().go(effects);
  }
  Prefetches& prefetches() noexcept { return prefetches_; }
  const Prefetches& prefetches() const noexcept { return prefetches_; }
  Flushes& flushes() noexcept { return flushes_; }
  const Flushes& flushes() const noexcept { return flushes_; }
  /// Drops every replica that nobody uses and whose version another place holds: memory is then as cold as
  /// if the data had never been there.
  void drop_clean() { evictor_.drop_clean(); }
  Reductions& reductions() noexcept { return reductions_; }
  LaneData& lane() noexcept { return lane_; }
  const Transfers& transfers() const noexcept { return transfers_; }

  // ---- what is where

  const State& state() const noexcept { return state_; }
  const Datum& datum(DatumId id) const noexcept { return state_.data[id]; }
  const MemoryNode& node(NodeId id) const noexcept { return state_.node(id); }
  bool reaches(NodeId node, NodeId home) const noexcept { return state_.reaches(node, home); }
  ReplicaState residency(DatumId id, NodeId node) const noexcept { return state_.residency(id, node); }
  /// The datum will be looked at soon: begins to load its cache lines.
  void look_ahead(DatumId id) const noexcept { prefetch<FetchedFor::reading>(&state_.data[id], 128); }
  const Topology& topology() const noexcept { return state_.topology; }
  /// Never changes: any thread may look.
  const Routes& routes() const noexcept { return state_.routes; }

  /// Throws Error naming the first thing that is not as it should be; with `idle`, also that nothing is
  /// pinned.
  void check(bool idle) const { check_invariants(state_, transfers_, idle); }

 private:
  State state_;
  Coherence coherence_{state_};
  Poison poison_{state_};
  Transfers transfers_{state_, coherence_};
  Evictor evictor_{state_, coherence_, transfers_};
  Flushes flushes_{state_, transfers_};
  LaneData lane_{state_, coherence_, transfers_};
  Reductions reductions_{state_, transfers_, poison_};
  Admitter admitter_{state_, coherence_, transfers_, evictor_, flushes_, lane_, reductions_, poison_};
  Landing landing_{state_, coherence_, transfers_, evictor_, flushes_};
  Losses losses_{state_, coherence_, transfers_, landing_, poison_};
  Prefetches prefetches_{state_, coherence_, transfers_, evictor_};
};

}  // namespace fairlead::memory
