// Which datum a node should load next, kept up to date instead of computed: for each datum and node the sums
// that Algorithm 3 asks for, changed when a task becomes ready or leaves and when a datum comes or goes. The
// order of the data is repaired when the node asks, and only as far as the answer depends on it: data that
// became better are moved up then, those that became worse only once they are on top.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/view.hpp"
#include "schedule/darts/datum_heap.hpp"
#include "schedule/darts/held_task.hpp"

namespace fairlead::schedule::darts {

/// The highest priority of a changing set. After the last task of the highest priority has left it is an
/// upper bound until somebody counts anew.
struct TopPriority {
  std::int32_t value = 0;
  std::uint32_t holders = 0;  // tasks that have it; 0 with a set that is not empty: only a bound

  // Written so that nothing is jumped over: priorities cannot be foreseen.
  void add(std::int32_t priority, bool first) noexcept {
    const bool highest = first | (priority > value);
    holders = highest ? 1 : holders + (priority == value ? 1 : 0);
    value = highest ? priority : value;
  }
  void remove(std::int32_t priority) noexcept { holders -= ((priority == value) & (holders > 0)) ? 1 : 0; }
};

class ReadyIndex {
 public:
  void attach(View& view);
  std::size_t slots() const noexcept { return nodes_.size(); }

  // ---- tasks

  /// A record of the task, in no list yet, that knows what each node lacks.
  HeldTask& make(Task& task);
  void to_ready(HeldTask& held);
  void to_planned(HeldTask& held, Slot slot);
  /// Held back: not considered until it is made ready.
  void to_aside(HeldTask& held);
  /// Out of its list. Data that only this planned task was to bring are missing again, unless `awaited`: then
  /// it was picked, and its data are on their way.
  void take_out(HeldTask& held, bool awaited);
  void release(HeldTask& held);
  /// Changes what later updates of its tile count for.
  void set_bonus(HeldTask& held, std::int64_t bonus);

  /// Recomputes what each node lacks for a task that is in no list.
  void count_missing(HeldTask& held);
  /// The node's tasks can no longer run on this worker; tasks that only it could run there leave the node's
  /// sums.
  void worker_lost(WorkerId worker, Slot slot);

  const HeldList& tasks_aside() const noexcept { return aside_; }
  const HeldList& planned_tasks(Slot slot) const noexcept { return nodes_[slot].planned; }

  // ---- data

  /// The datum has space on the node.
  void came(DatumId datum, Slot slot);
  /// It has none any more; `awaited`: a picked task will bring it back.
  void went(DatumId datum, Slot slot, bool awaited);
  /// Whether a picked task is to bring it.
  void set_awaited(DatumId datum, Slot slot, bool awaited);
  bool awaited(DatumId datum, Slot slot) { return entry(datum, slot).awaited; }
  bool resident(DatumId datum, Slot slot) { return entry(datum, slot).resident; }
  /// It was removed: nothing that was found out about it holds for the next datum of that id.
  void forget(DatumId datum);
  /// Bringing it takes another time now: copies appeared or vanished elsewhere.
  void transfer_changed(DatumId datum, Slot except);
  /// In dataNotInMem of the node, if a ready task uses it.
  bool missing(DatumId datum, Slot slot) { return !entry(datum, slot).present; }
  std::uint32_t planned_users(DatumId datum, Slot slot) { return entry(datum, slot).planned; }
  /// Another number whenever data that planned tasks of the node lack come, go or change their order.
  std::uint64_t planned_lacks_version(Slot slot) const noexcept { return nodes_[slot].planned_lacks_version; }
  /// Tasks of plannedTasks of the node that use the datum, in no particular order.
  void planned_users(DatumId datum, Slot slot, std::vector<HeldTask*>& out);

  // ---- hints. They change nothing but how long the next calls take: what these look at is far away.

  /// The datum will probably come or go soon. Then fetch_lists() and fetch_records() with a little time
  /// before each.
  void expect(DatumId datum);
  /// The datum that will probably be the next best.
  void expect_next_best(Slot slot);
  void fetch_lists();
  void fetch_records(Slot slot);

  // ---- decisions

  /// Ready tasks that need nothing more on the node, in order of release. Forgets them: plan all.
  void take_free(Slot slot, std::vector<HeldTask*>& out);
  /// The best datum to load, if any enables a task alone or with one more.
  const Worth* best(Slot slot);
  /// S0(datum), in order of release.
  void enabled(DatumId datum, Slot slot, std::vector<HeldTask*>& out);
  /// The most urgent task of S1(datum).
  HeldTask* best_with_one_more(DatumId datum, Slot slot);
  /// The most urgent ready task that needs three data or more.
  HeldTask* best_far(Slot slot);

 private:
  struct OrderFlags {
    bool in = false;     // in the heap
    bool worse = false;  // than the heap believes
  };
  /// A datum as one node sees it: one cache line.
  struct alignas(64) Entry {
    std::int64_t work = 0, left = 0;  // of S0; of all ready users
    std::int64_t transfer = unknown;  // ns to bring it
    TopPriority top0, top1;
    std::uint32_t s0 = 0, s1 = 0;
    std::uint32_t planned = 0;  // tasks of the node's plannedTasks that use it
    bool present = false;       // resident, awaited or to be brought by a planned task
    bool resident = false;      // has space there, or is used in place
    bool in_place : 1 = false;  // always resident
    bool asked : 1 = false;     // whether it is used in place is known
    bool awaited = false;       // a picked task that is not admitted will bring it
    bool ratio_better = false;  // than the heap believes, or the number or priority of S0
    bool raised = false;        // among those of which the heap believes too little |S1| or work left
    bool listed = false;        // among those that became better
    bool listed_by_s1 = false;  // among those that became better without S0
    OrderFlags by_s0, by_s1;    // where it stands in the node's two orders
  };
  static constexpr std::int64_t unknown = -1;
  /// A task that needed three data or more when it was listed.
  struct Far : HeldRef {
    std::int32_t priority;
    std::uint64_t order;
    bool operator<(const Far& other) const noexcept {  // less urgent
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  struct Node {
    NodeId id;
    std::vector<WorkerId> workers;
    HeldList planned;
    std::uint64_t planned_lacks_version = 1;
    std::vector<std::uint32_t> needs;  // by record: its generation, and a Need
    // The best datum first, but some may be worse than it believes, and some that are listed better.
    DatumHeap by_s0;              // data that enable a task alone
    DatumHeap by_s1;              // with one more; looked at only when there is none of the former
    std::vector<DatumId> better;  // of both
    std::vector<DatumId> better_by_s1;
    std::vector<DatumId> raised;  // of by_s0; looked at only when that may decide
    std::vector<HeldRef> free;
    std::vector<Far> new_far;   // not yet in the heap
    std::vector<Far> far;       // a heap, most urgent first; of some it is no longer true
    std::size_t far_tasks = 0;  // of which it is
  };
  struct User {  // as small as can be: these lists are read from far away
    std::uint32_t record;
    std::uint32_t generation_and_use;  // its lowest 8 bits: which of its uses, many_uses at most
    std::uint32_t use() const noexcept { return generation_and_use & 255u; }
  };
  static constexpr std::uint32_t many_uses = 255;
  /// What a node's `needs` says of a task in 8 bits, so that walks over a datum's users fetch the records of
  /// those alone that matter: how many data a ready task lacks, and one more; or one of these.
  struct Need {
    static constexpr std::uint32_t nothing = 0;              // not ready, or no worker of the node can run it
    static constexpr std::uint32_t alone = 2, one_more = 3;  // members of S0, S1
    static constexpr std::uint32_t most = 254;               // that many or more
    static constexpr std::uint32_t planned = 255;            // on this node
    static bool ready(std::uint32_t need) noexcept { return need - 1 < most; }
  };
  /// A user found by a walk.
  struct Found {
    HeldTask* held;
    std::uint32_t record;
    std::uint8_t use, need;
  };
  /// The held tasks that use a datum, and references to some that are gone.
  struct Users {
    std::vector<User> list;
    std::uint32_t held = 0;
  };

  Entry& entry(DatumId datum, Slot slot) {
    if (index(datum) >= data_count_) grow(datum);
    return known_entry(datum, slot);
  }
  Entry& known_entry(DatumId datum, Slot slot) { return entries_[index(datum) * slot_count_ + slot]; }
  void grow(DatumId datum);
  void first_use(DatumId datum);
  void became_better(DatumId datum, Slot slot, Entry& e) {
    if (!std::exchange(e.listed, true)) nodes_[slot].better.push_back(datum);
  }
  static void became_worse(Entry& e) { e.by_s0.worse = e.by_s1.worse = true; }
  static void list_s1(DatumId datum, Entry& e, Node& node) {
    if (!std::exchange(e.listed_by_s1, true)) node.better_by_s1.push_back(datum);
  }
  /// Calls f(held, found) with each held task that uses the datum and for whose Need on the node wanted(need)
  /// says true, in no particular order. Forgets users that are gone.
  template <class Wanted, class F>
  void for_each_user(DatumId datum, Slot slot, Wanted&& wanted, F&& f);
  /// Writes the task's need down.
  void note(const HeldTask& held, Slot slot) {
    const OnNode& on = held.on(slot);
    std::uint32_t need = Need::nothing;
    if (held.where == HeldTask::Where::ready && on.usable())
      need = std::min(std::uint32_t{on.missing} + 1, Need::most);
    else if (held.where == HeldTask::Where::planned && held.planned_on == slot)
      need = Need::planned;
    nodes_[slot].needs[held.record] = held.generation << 8 | need;
  }
  /// Of a ready task that lacks one more or less now.
  void note(const HeldTask& held, std::uint32_t record, Slot slot) {
    nodes_[slot].needs[record] =
        held.generation << 8 | std::min(std::uint32_t{held.on(slot).missing} + 1, Need::most);
  }
  void note(const HeldTask& held) {
    for (Slot slot = 0; slot < slot_count_; ++slot) note(held, slot);
  }
  /// Calls f(datum, use) with each use that the node lacks.
  template <class F>
  void for_each_missing(HeldTask& held, Slot slot, F&& f);
  void repair_s0(Slot slot);
  void repair_s1(Slot slot);
  void raise(Slot slot);
  /// Puts the datum where it belongs in the order, or takes it out.
  void replace_s0(DatumId datum, Slot slot, Entry& e);
  void replace_s1(DatumId datum, Slot slot, Entry& e);
  const Worth* top_s0(Slot slot);
  const Worth* top_s1(Slot slot);
  /// Adds the task to the sums of the data it lacks, or takes it off.
  void add(HeldTask& held, Slot slot);
  void subtract(HeldTask& held, Slot slot);
  static std::int64_t work(const HeldTask& held, std::uint32_t use, Slot slot) {
    return held.on(slot).work + (held.has_bonus && held.uses()[use].updated ? held.bonus : 0);
  }
  static void add_s0(Entry& e, const HeldTask& held, std::uint32_t use, Slot slot) {
    e.work += work(held, use, slot);
    e.top0.add(held.priority, e.s0++ == 0);
    e.ratio_better = true;
  }
  static void remove_s0(Entry& e, const HeldTask& held, std::uint32_t use, Slot slot) {
    e.work -= work(held, use, slot);
    if (--e.s0 > 0) e.top0.remove(held.priority);
  }
  static void add_s1(Entry& e, std::int32_t priority) { e.top1.add(priority, e.s1++ == 0); }
  static void remove_s1(Entry& e, std::int32_t priority) {
    if (--e.s1 > 0) e.top1.remove(priority);
  }
  /// One of its data has come to the node.
  void lacks_one_less(HeldTask& held, Slot slot);
  /// One has left, whose entry is `e`.
  void lacks_one_more(HeldTask& held, std::uint32_t lost, Slot slot, Entry& e);
  static std::uint32_t use_of(DatumId datum, const HeldTask& held, const Found& found) {
    if (found.use < many_uses) return found.use;
    std::uint32_t use = many_uses;
    while (held.uses()[use].datum != datum) ++use;
    return use;
  }
  bool is_far(const Far& far, Slot slot) const {
    return !far.stale() && far.held->where == HeldTask::Where::ready && far.held->on(slot).missing > 2;
  }
  void purge_far(Slot slot);
  void list_if_free_or_far(HeldTask& held, Slot slot);
  void update_present(DatumId datum, Slot slot);
  Worth worth(DatumId datum, Slot slot);
  void recount_priority(DatumId datum, Slot slot);

  View* view_ = nullptr;
  std::vector<Node> nodes_;
  std::size_t slot_count_ = 0, data_count_ = 0;  // read all the time
  std::vector<Entry> entries_;                   // by datum, slot
  std::vector<Users> users_;                     // by datum
  std::vector<bool> used_;                       // by datum: a task has used it
  std::vector<Found> walked_;                    // scratch of for_each_user()
  std::vector<DatumId> expected_, listed_;  // data whose lists of users, and the users, are to be fetched
  HeldPool pool_;
  std::size_t ready_ = 0;  // tasks of readyTasks
  HeldList aside_;
};

// First over the list and the needs, which lie close together, without jumps that cannot be foreseen; then
// over the records, which lie far apart: fetched before they are looked at, and what they say will be looked
// at too.
template <class Wanted, class F>
void ReadyIndex::for_each_user(DatumId datum, Slot slot, Wanted&& wanted, F&& f) {
  constexpr std::size_t ahead = 16;
  std::vector<User>& list = users_[index(datum)].list;
  const std::size_t listed = list.size();
  if (walked_.size() < listed) walked_.resize(2 * listed);
  const std::uint32_t* const needs = nodes_[slot].needs.data();
  User* const users = list.data();
  Found* const walked = walked_.data();
  std::size_t kept = 0, found = 0;
  for (std::size_t i = 0; i < listed; ++i) {
    const User user = users[i];
    const std::uint32_t known = needs[user.record];
    const bool held = (known ^ user.generation_and_use) < 256;
    users[kept] = user;
    kept += held ? 1 : 0;
    walked[found] = {nullptr, user.record, static_cast<std::uint8_t>(user.use()),
                     static_cast<std::uint8_t>(known)};
    found += (held & wanted(known & 255u)) ? 1 : 0;
  }
  list.resize(kept);
  const auto fetch = [&](Found& user) {
    user.held = &pool_.at(user.record);
    __builtin_prefetch(&user.held->generation);
  };
  for (std::size_t i = 0; i < std::min(ahead, found); ++i) fetch(walked[i]);
  for (std::size_t i = 0; i < found; ++i) {
    if (i + ahead < found) fetch(walked[i + ahead]);
    if (i + ahead / 4 < found)
      for (const Use& use : walked[i + ahead / 4].held->uses())
        __builtin_prefetch(&known_entry(use.datum, slot));
    f(*walked[i].held, walked[i]);
  }
}

template <class F>
void ReadyIndex::for_each_missing(HeldTask& held, Slot slot, F&& f) {
  if (held.few_uses()) {
    for (std::uint32_t lacks = held.on(slot).lacks; lacks != 0; lacks &= lacks - 1) {
      const auto use = static_cast<std::uint32_t>(std::countr_zero(lacks));
      f(held.uses()[use].datum, use);
    }
  } else {
    for (std::uint32_t use = 0; use < held.use_count; ++use)
      if (!known_entry(held.uses()[use].datum, slot).present) f(held.uses()[use].datum, use);
  }
}

}  // namespace fairlead::schedule::darts
