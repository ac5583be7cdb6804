// The held tasks that use a datum, and how many of their data each node lacks. When a datum arrives or leaves, only the
// affected tasks are visited.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/index/darts_task.hpp"

namespace fairlead::schedule {

class DataUsers {
 public:
  /// The state of a task on a node in 8 bits: for a ready task, the number of data that it lacks there plus one;
  /// otherwise one of the special values.
  struct LackState {
    static constexpr std::uint32_t nothing = 0;              // not ready, or no worker of the node can run it
    static constexpr std::uint32_t alone = 2, one_more = 3;  // members of S0, S1
    static constexpr std::uint32_t most = 254;               // the task lacks most - 1 data or more
    static constexpr std::uint32_t planned = 255;            // planned on this node
    static bool ready(std::uint32_t need) noexcept { return need - 1 < most; }
  };
  /// A user found by for_each().
  struct Found {
    DartsTask* held;
    std::uint32_t record;
    std::uint8_t use, need;
    /// The index of the datum among the task's uses.
    std::uint32_t use_of(DatumId datum) const noexcept {
      std::uint32_t at = use;
      while (at >= many_uses && held->uses()[at].datum != datum) ++at;
      return at;
    }
  };

  void attach(std::size_t slots) {
    needs_.resize(slots);
    pool_.set_nodes(slots);
  }

  /// Creates a record of the task with these uses and adds it to the user lists of their data.
  DartsTask& make(Task& task, std::span<const InputUse> inputs);
  /// Ends the use of the record. User lists drop it when they are next scanned, or when most of their entries are
  /// stale.
  void release(DartsTask& held);
  /// Records the state of the task on the node. note_lacking() is for a ready task that lacks one datum more or less.
  void note(const DartsTask& held, Slot slot);
  void note_lacking(const DartsTask& held, std::uint32_t record, Slot slot) {
    needs_[slot][record] = held.generation << 8 | lacking(held, slot);
  }
  void note(const DartsTask& held) {
    for (Slot slot = 0; slot < needs_.size(); ++slot) note(held, slot);
  }

  /// Calls f(held, found) for each held task that uses the datum and whose Need on the node satisfies wanted(need), in
  /// unspecified order. Removes stale users.
  template <class Wanted, class F>
  void for_each(DatumId datum, Slot slot, Wanted&& wanted, F&& f);
  /// Calls f with all records, in use or not.
  template <class F>
  void for_each_record(F&& f) {
    pool_.for_each(f);
  }

 private:
  static constexpr std::uint32_t many_uses = 255;
  struct User {  // compact, since these lists are rarely cached
    std::uint32_t record;
    std::uint32_t generation_and_use;  // lowest 8 bits: index among the task's uses, at most many_uses
  };
  /// The held tasks that use a datum, and some stale references.
  struct Users {
    std::vector<User> list;
    std::uint32_t held = 0;
  };
  static std::uint32_t lacking(const DartsTask& held, Slot slot) noexcept {
    return std::min(std::uint32_t{held.on(slot).missing} + 1, LackState::most);
  }

  DartsTaskPool pool_;
  std::vector<Users> users_;                       // by datum
  std::vector<std::vector<std::uint32_t>> needs_;  // by slot, then record: its generation and Need
  std::vector<Found> found_;                       // scratch of for_each()
};

// The first pass reads the list and the needs, which are contiguous, without unpredictable branches. The second pass
// visits the records, which are far apart, and prefetches them. With 100,000 ready tasks this takes 0.6 instead of 1.2
// microseconds per task (bench/decision_cost darts, grid of equal tasks; 2 cores of an AMD EPYC under other load,
// 2026-11-21).
// Below 10,000 tasks there is no difference.
template <class Wanted, class F>
void DataUsers::for_each(DatumId datum, Slot slot, Wanted&& wanted, F&& f) {
  if (index(datum) >= users_.size()) return;
  std::vector<User>& list = users_[index(datum)].list;
  const std::size_t listed = list.size();
  if (found_.size() < listed) found_.resize(2 * listed);
  const std::uint32_t* const needs = needs_[slot].data();
  User* const users = list.data();
  Found* const walked = found_.data();
  constexpr std::size_t ahead = 16;
  std::size_t kept = 0, found = 0;
  for (std::size_t i = 0; i < listed; ++i) {
    const User user = users[i];
    const std::uint32_t known = needs[user.record];
    const bool held = (known ^ user.generation_and_use) < 256;
    users[kept] = user;
    kept += held ? 1 : 0;
    walked[found] = {nullptr, user.record, static_cast<std::uint8_t>(user.generation_and_use),
                     static_cast<std::uint8_t>(known)};
    found += (held & wanted(known & 255u)) ? 1 : 0;
  }
  list.resize(kept);
  for (std::size_t i = 0; i < found; ++i) {
    if (i < ahead) walked[i].held = &pool_.at(walked[i].record);
    if (i + ahead < found) {
      walked[i + ahead].held = &pool_.at(walked[i + ahead].record);
      __builtin_prefetch(&walked[i + ahead].held->generation);
    }
    f(*walked[i].held, walked[i]);
  }
}

}  // namespace fairlead::schedule
