// Which policy is the best for what lies ahead, as far as plays tell: all candidates play the same part of the work, the two
// best ones a larger part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "policy/rehearsal.hpp"
#include "schedule/rehearsed/ideas.hpp"

namespace fairlead::schedule::rehearsed {

struct Question {
  std::string present;  ///< the policy that goes on if no other is clearly better
  double tasks = 0;     ///< so many are to be played
  Duration work{};      ///< what they take together, each where it is fastest
  Duration expected{};  ///< how long they take at least, by all who work
  double within = 0;    ///< of the time that they take: how much of it may pass until it is known
  Duration cost{};      ///< of playing a task under one policy, if so many play at once
  double at_once = 1;
  std::size_t fewest = 0;         ///< of each policy: fewer say nothing
  bool exceeds_memories = false;  ///< of those who do most of the work, all of them together: the data do
  bool ways_limit = false;        ///< bringing each of the data once takes longer than computing
  bool ways_are_ample = false;    ///< and several times not: see begin_to_play()
  std::vector<std::string> dispensable;  ///< sets of workers without which it might be over sooner
  std::size_t if_soon_over = 0;          ///< the last so many of these: only if there is time, see may_wait
  double may_wait = 0;  ///< of the time that the tasks take: for how long all stand still for a judge
  LeftOut left_out;

  /// So many plays of all tasks may be made while all stand still, if the tasks take that long.
  bool may_wait_for(std::size_t plays, Duration time) const noexcept {
    return static_cast<double>(plays) * tasks * static_cast<double>(cost.count()) <=
           may_wait * static_cast<double>(time.count());
  }
};
/// The policies that are played.
std::span<const std::string_view> members() noexcept;
/// So many plays at most, but for those that are only made if they are soon over.
std::size_t most_plays(const Question& question) noexcept;
/// Who is to take over by what a judge found; empty: nobody, or it is no judge's.
std::string policy_of(const Question& question, std::uint64_t finding);
/// So much may be played that something is known then.
bool can_be_judged(const Question& question) noexcept;

/// This part of the work tells how long all of it takes, where all stand still for a judge and it may be too long.
inline constexpr double part_to_look_at = 1.0 / 8;
/// All stood still for a judge, and what is to be played takes longer than they may wait: nothing is known.
inline constexpr std::uint64_t too_long = ~std::uint64_t{0};

/// What a rehearsal tells is both what a judge found and how long it will take: a replay of the run has no more than that.
struct Told {
  std::uint64_t finding = 0;  ///< for policy_of(), with the same question; 0: nobody is to take over
  Played played{Duration{}};  ///< all of it under who goes on, as far as was played; 0: not known
};
std::uint64_t packed(const Told& told) noexcept;
Told unpacked(std::uint64_t told) noexcept;

/// A short look at few: whether another one should take over before more is known. At all of the work, if data exceed.
Told glance(Stage& stage, const Question& question);
/// There is time for that.
bool glance_sees_all(const Question& question) noexcept;
Told judge(Stage& stage, const Question& question);
/// Whether the present one is better off with fewer workers.
Told narrow(Stage& stage, const Question& question);
/// Whether what was found holds as well for what is left, from where the data are now: the finding, or 0.
Told confirm(Stage& stage, const Question& question, std::uint64_t finding);

}  // namespace fairlead::schedule::rehearsed
