// Which held tasks use a datum, and how much of theirs each node lacks: so that a datum that comes or goes
// finds those to which it matters, without a look at the others.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/index/held_task.hpp"

namespace fairlead::schedule {

class DataUsers {
 public:
  /// What a node knows of a task in 8 bits: how many data a ready task lacks there, and one more; or one of
  /// these.
  struct Need {
    static constexpr std::uint32_t nothing = 0;              // not ready, or no worker of the node can run it
    static constexpr std::uint32_t alone = 2, one_more = 3;  // members of S0, S1
    static constexpr std::uint32_t most = 254;               // that many or more
    static constexpr std::uint32_t planned = 255;            // on this node
    static bool ready(std::uint32_t need) noexcept { return need - 1 < most; }
  };
  /// A user that for_each() has found.
  struct Found {
    HeldTask* held;
    std::uint32_t record;
    std::uint8_t use, need;
    /// Which of the task's uses the datum is.
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

  /// A record of the task with these uses, known to their data.
  HeldTask& make(Task& task, std::span<const Use> inputs);
  /// The task is held no longer. Its data forget it when they are looked at next, or when most of their users
  /// are gone.
  void release(HeldTask& held);
  /// Writes down what the node knows of the task; and of a ready one that lacks one more or less now.
  void note(const HeldTask& held, Slot slot);
  void note_lacking(const HeldTask& held, std::uint32_t record, Slot slot) {
    needs_[slot][record] = held.generation << 8 | lacking(held, slot);
  }
  void note(const HeldTask& held) {
    for (Slot slot = 0; slot < needs_.size(); ++slot) note(held, slot);
  }

  /// Calls f(held, found) with each held task that uses the datum and for whose Need on the node wanted(need)
  /// says true, in no particular order. Forgets users that are gone.
  template <class Wanted, class F>
  void for_each(DatumId datum, Slot slot, Wanted&& wanted, F&& f);
  /// Calls f with all records, held or not.
  template <class F>
  void for_each_record(F&& f) {
    pool_.for_each(f);
  }

 private:
  static constexpr std::uint32_t many_uses = 255;
  struct User {  // as small as can be: these lists are read from far away
    std::uint32_t record;
    std::uint32_t generation_and_use;  // its lowest 8 bits: which of its uses, many_uses at most
  };
  /// The held tasks that use a datum, and references to some that are gone.
  struct Users {
    std::vector<User> list;
    std::uint32_t held = 0;
  };
  static std::uint32_t lacking(const HeldTask& held, Slot slot) noexcept {
    return std::min(std::uint32_t{held.on(slot).missing} + 1, Need::most);
  }

  HeldPool pool_;
  std::vector<Users> users_;                       // by datum
  std::vector<std::vector<std::uint32_t>> needs_;  // by slot, record: its generation, and a Need
  std::vector<Found> walked_;                      // scratch of for_each()
};

// First over the list and the needs, which lie close together, without jumps that cannot be foreseen; then
// over the records, which lie far apart and are fetched before they are looked at: with 100,000 tasks ready a
// task costs 0.6 in place of 1.2 microseconds so (bench/decision_cost darts, grid of equal ones; 2 cores of
// an AMD EPYC that others kept busy, 2026-11-21). Below 10,000 it makes no difference.
template <class Wanted, class F>
void DataUsers::for_each(DatumId datum, Slot slot, Wanted&& wanted, F&& f) {
  if (index(datum) >= users_.size()) return;
  std::vector<User>& list = users_[index(datum)].list;
  const std::size_t listed = list.size();
  if (walked_.size() < listed) walked_.resize(2 * listed);
  const std::uint32_t* const needs = needs_[slot].data();
  User* const users = list.data();
  Found* const walked = walked_.data();
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
