// What is where, what moves and what leaves: the coherence of all replicas and the admission of tasks to
// memory. Passive: it decides and records; who calls it carries out the copies it wants started and reports
// how they end. Why it cannot hang is argued in docs/memory.md, whose rule numbers the comments cite.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/deliberate_mistake.hpp"
#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/away_list.hpp"
#include "memory/copy_pool.hpp"
#include "memory/datum_table.hpp"
#include "memory/evictor.hpp"
#include "memory/links.hpp"
#include "memory/memory_node.hpp"
#include "memory/partial_results.hpp"
#include "memory/routes.hpp"
#include "policy/policy.hpp"

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

/// What followed from a call: read and cleared by the engine.
struct Effects {
  std::vector<Task*> landed;   // admitted tasks that wait for no copy any more
  std::vector<Task*> failed;   // admitted tasks one of whose inputs could not be brought; `failure` tells why
  std::vector<Copy*> started;  // copies that the world has to carry out
  int stop_error = 0;          // errno of a copy whose failure ends the run: what was to be safe is not
  DatumId stop_datum = no_id<DatumId>;
  std::exception_ptr stop_failure;  // what the world says about it; null: nothing more
};

class Memory {
 public:
  Memory(const Topology& topology, Policy& policy);
  /// From now on; see base/deliberate_mistake.hpp.
  void make(DeliberateMistake mistake) noexcept { mistake_ = mistake; }

  /// Whom to tell and ask from now on; before the first admission only.
  void use_policy(Policy& policy) noexcept {
    policy_ = &policy;
    tell_residency_ = includes(policy.interests(), Interest::residency);
  }
  /// How data are called in errors; else by their numbers.
  void name_by(std::function<std::string(DatumId)> name) { name_ = std::move(name); }
  DatumId add(const DatumSpec& spec);
  /// No datum gets the id of another that is gone. Before the first is removed.
  void keep_ids() noexcept { data_.keep_ids(); }
  void advise(DatumId id, int device) noexcept { data_[id].advice = static_cast<std::int8_t>(device); }
  /// Forgets a datum that no unfinished task uses: another may get its id. False: copies of it are still in
  /// flight, try again when one ends.
  bool try_remove(DatumId id);

  /// Reserves the task's whole footprint on the node in one step, or nothing (rule 1). `first`: no admitted
  /// task is before it in its worker's pipeline, so it may take the whole node and become its claimant (rule
  /// 2).
  Admission admit(Task& task, NodeId node, bool first);
  /// Ends what admit() began.
  void release(Task& task, Outcome outcome);
  /// The admitted task is the application's: its data are held until unhold(), after which release() ends
  /// it.
  void hold(Task& admitted);
  void unhold(Task& held);
  /// The datum's newest version stays on the node, and counts as written there from now on, since tasks of
  /// the direct lane change it untold. `has_value`: something has been written into it before. Returns where
  /// it is; null if it is somewhere else, is poisoned, or has no room.
  void* keep_for_lane(DatumId id, NodeId node, bool has_value);
  /// The lane is closed, and nobody is inside: data may leave again.
  void end_lane();
  /// Whether all data fit into the node together.
  bool all_fit(NodeId node) const noexcept {
    return bytes_of_data(node) <= nodes_[index(node)].space.capacity();
  }
  /// Of all data that are not used in place there, as the allocator rounds them.
  Bytes bytes_of_data(NodeId node) const noexcept { return data_bytes_[index(node)]; }
  /// Somebody was kept out by data that stay for the lane. Until the lane ends.
  bool lane_is_in_the_way() const noexcept { return lane_is_in_the_way_; }
  /// A task that will never run: what it was to write is poisoned. It must not be admitted.
  void poison_outputs(const Task& task);
  bool reads_poisoned(const Task& task) const;
  /// Whether another task is changing what this one has to have alone.
  bool waits_for_token(const Task& task) const;
  /// The datum whose replica an admitted access is given: its own, or that of a partial result.
  DatumId target(const Access& access) const noexcept {
    return access.partial == 0 ? access.datum : partials_.of(data_[access.datum])[access.partial - 1u].id;
  }
  /// How many partial results a datum has.
  std::size_t partials_of(DatumId id) const noexcept {
    return data_[id].is_partial ? 0 : partials_.of(data_[id]).size();
  }
  /// For a task that folds: whether there is anything in its partial result.
  bool anything_to_fold(const Task& fold);
  /// It is over, or there was nothing to fold: the partial result is empty again.
  void fold_over(const Task& fold);
  /// The task no longer waits for memory (it was cancelled or given to another node).
  void forget_claim(Task& task);
  /// Something of which admit() makes its answer has changed since take_change(), on whatever node: all that
  /// was refused has to be tried again. Whoever changes such a thing notes it here.
  bool changed() const noexcept { return changed_; }
  bool take_change() noexcept { return std::exchange(changed_, false); }
  void note_change() noexcept { changed_ = true; }

  /// A copy that was started has ended.
  void landed(Copy& copy, bool succeeded);
  /// Brings a datum to a node if there is free space, or the policy spares some (rule 6). False if nothing
  /// was started. Never if a task waits for the node's memory, if it would take more than a share of the
  /// node, or if it was done twice in vain since a task last used the datum there.
  bool prefetch(DatumId id, NodeId node);
  /// Whether asking is worth while at all.
  bool may_prefetch(NodeId id) const noexcept {
    const MemoryNode& node = nodes_[index(id)];
    return node.claimant == nullptr && data_on_other_homes_[index(id)] != 0 &&
           node.prefetching_bytes < node.space.capacity() / prefetch_share;
  }
  /// Prefetched, and neither used nor dropped so far.
  Bytes prefetched_and_unused(NodeId node) const noexcept;
  /// Sends every datum home whose newest version is not there. Done when `flushing()` turns false.
  void flush();
  bool flushing() const noexcept { return flush_wanted_; }
  /// Some workers change data of the program's own memory elsewhere, since they do not reach it.
  bool homes_may_be_old() const noexcept { return away_.possible(); }
  /// Data in the program's own memory whose newest version is elsewhere, and that no task is changing. Those
  /// whose refresh is put off are left out unless these are asked for, too.
  std::vector<DatumId> away_from_home(bool put_off_too) { return away_.now(data_, put_off_too); }
  /// Sends the newest versions of these home, as far as no task is changing them: it is not waited for. Done
  /// when `flushing()` turns false.
  void refresh(std::span<const DatumId> data);
  /// Whether away_from_home() is to tell of the datum.
  void put_refresh_off(DatumId id, bool put_off) noexcept { data_[id].refresh_put_off = put_off; }
  /// Drops every replica that nobody uses and whose version another place holds: memory is then as cold as
  /// if the data had never been there.
  void drop_clean();

  bool reaches(NodeId node, NodeId home) const noexcept {
    return ((nodes_[index(node)].reaches >> index(home)) & 1) != 0;
  }
  ReplicaState residency(DatumId id, NodeId node) const noexcept;
  /// Whether the node, or the home that its workers use in place, has the newest version, or it is on its
  /// way.
  bool has_newest(DatumId id, NodeId node) const noexcept;
  /// How long bringing the datum there would take from its cheapest source, on idle links; 0 if it is there.
  Duration transfer_time(DatumId id, NodeId node) const noexcept;
  const Datum& datum(DatumId id) const noexcept { return data_[id]; }
  View::Extent extent(std::int32_t collection) const { return data_.extent(collection); }
  /// The datum will be looked at soon: begins to load its cache lines.
  void look_ahead(DatumId id) const noexcept {
    const Datum* datum = &data_[id];
    __builtin_prefetch(datum);
    __builtin_prefetch(reinterpret_cast<const char*>(datum) + 64);
  }
  std::size_t datum_count() const noexcept { return data_.size(); }
  MemoryNode& node(NodeId id) noexcept { return nodes_[index(id)]; }
  const MemoryNode& node(NodeId id) const noexcept { return nodes_[index(id)]; }
  std::span<const LinkTraffic> traffic() const noexcept { return links_.traffic(); }
  std::size_t copies_in_flight() const noexcept { return links_.copies_in_flight(); }
  std::uint64_t copies_landed() const noexcept { return links_.copies_ended(); }
  /// Calls f(const Copy&) for each that is queued or in flight.
  template <class F>
  void for_each_copy(F&& f) const {
    copies_.for_each(f);
  }
  /// The datum's replica on a cache; null if there never was one.
  const Replica* replica_on(DatumId id, NodeId node) const noexcept { return data_.find_on(id, node); }
  const Topology& topology() const noexcept { return topology_; }
  /// Never changes: any thread may look.
  const Routes& routes() const noexcept { return routes_; }

  /// Throws Error naming the first thing that is not as it should be; with `idle`, also that nothing is
  /// pinned.
  void check(bool idle) const;

  Effects effects;

 private:
  static constexpr Bytes prefetch_share = 4;  ///< of a node's capacity, one part in this many
  friend class Evictor;
  Replica& usable(DatumId id, const MemoryNode& node);
  /// A task that reduces: chooses where it adds. False if all are taken.
  bool choose_target(Access& access, const MemoryNode& node);
  Replica& usable(const Task& task, const Access& access, const MemoryNode& node);
  /// Puts what the task lacks on the node into `sizes_`; returns the bytes that its admission would pin
  /// there.
  Bytes find_needs(const Task& task, const MemoryNode& node);
  bool make_room(const Task& task, MemoryNode& node);
  void revoke_prefetches(MemoryNode& node, const Task& for_task);
  void take(Task& task, MemoryNode& node);
  void take_access(Task& task, Access& access, MemoryNode& node);
  void give_scratch_back(Task& task, MemoryNode& node);
  bool bring(Datum& datum, Replica& to, Task& task);
  /// The range is the replica's, whose state and version say what will be there.
  void occupy(Replica& replica, MemoryNode& node, const Range& range);
  void pin(Replica& replica, MemoryNode& node);
  void unpin(Replica& replica, MemoryNode& node);
  /// A replica that nobody pins any more: drop it if it is old, else let it leave when space is needed.
  void settle(Replica& replica);
  void drop(Replica& replica, DropReason reason);
  void leave_lane(Replica& replica);
  void tell_back(const Replica& replica);
  void written(Datum& datum, Replica& at);
  /// The copy home or to a refuge has ended: its source is gone, unless somebody uses it again.
  void left(Replica& replica);
  void send_home(Datum& datum);
  void flush_ended() noexcept;
  /// A copy from there is not read but made: nothing has ever been written to the home.
  bool made_from(const Datum& datum, const Replica& holder) const noexcept {
    return datum.generator != nullptr && &holder == &datum.home &&
           (holder.version == 1 || mistake_.is(Mistake::written_made_anew));
  }
  const Route& route_from(const Datum& datum, const Replica& holder, NodeId to) const noexcept {
    return made_from(datum, holder) ? routes_.computing(holder.node, to) : routes_.between(holder.node, to);
  }
  const Replica* source_of(const Datum& datum, NodeId to) const noexcept;
  bool another_holds(const Datum& datum, const Replica& replica) const noexcept;
  bool may_leave(const Datum& datum, const Replica& replica) const noexcept;

  Copy& make_copy(Replica& from, Replica& to, Cause cause);
  void wait_for(Task& task, Copy& copy);
  void enqueue(Copy& copy);
  void unqueue(Copy& copy);
  void abandon(Copy& copy, DropReason reason);
  void let_go_of_via(Copy& copy, DropReason reason);
  void no_longer_prefetching(const Copy& copy) noexcept;
  void no_longer_unused(Replica& replica) noexcept;
  void detach(Copy& copy);
  void arrived(Copy& copy);
  void came_home(Copy& copy);
  void failed(Copy& copy);
  void serve_waiters(Copy& copy);
  void arrived_at(Replica& replica, const Copy& copy, bool& revoked, bool old);
  void ask_again(Replica& replica, Copy& copy);
  void settle_after(Replica& replica, bool revoked);

  Topology topology_;
  Routes routes_;
  Policy* policy_;
  bool tell_residency_;
  DeliberateMistake mistake_;
  std::vector<MemoryNode> nodes_;  // by NodeId; homes have no space to manage
  DatumTable data_;
  PartialResults partials_;
  Links links_;
  CopyPool copies_;
  AwayList away_;
  Evictor evictor_{*this};
  std::vector<Bytes> sizes_;   // scratch
  std::vector<Replica*> own_;  // scratch
  bool changed_ = false;
  std::function<std::string(DatumId)> name_;
  std::vector<std::size_t> data_on_other_homes_;  // by NodeId: not used in place there
  bool flush_wanted_ = false;
  bool refreshing_ = false;        // what is open is a refresh: it waits for no task
  bool poison_seen_ = false;       // ever: spares the search where nothing failed
  std::vector<Bytes> data_bytes_;  // by NodeId: of all data, rounded, that are not used in place there
  ReplicaList lane_;               // replicas that stay for the direct lane
  bool lane_is_in_the_way_ = false;
  std::size_t flushes_open_ = 0;
};

}  // namespace fairlead::memory
