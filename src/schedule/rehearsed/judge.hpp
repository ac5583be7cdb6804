// Which policy is the best for what lies ahead, as far as plays tell: all candidates play the same part of the work, the two
// best ones a larger part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::schedule::rehearsed {

struct Question {
  std::string present;                   ///< the policy that goes on if no other is clearly better
  double tasks = 0;                      ///< so many are to be played
  Duration work{};                       ///< what they take together, each where it is fastest
  double plays = 0;                      ///< so many tasks may be played, one under one policy being one
  std::size_t fewest = 0;                ///< of each policy: fewer say nothing
  std::vector<std::string> dispensable;  ///< sets of workers without which it might be over sooner
};
/// So many plays at most.
std::size_t most_plays(const Question& question) noexcept;
/// Who is to take over by what a judge found; empty: nobody, or it is no judge's.
std::string policy_of(const Question& question, std::uint64_t finding);
/// So many may be played that all candidates can be told apart.
bool can_be_judged(const Question& question) noexcept;
/// For policy_of(), with the same question; 0: nobody is to take over.
std::uint64_t judge(Stage& stage, const Question& question);

}  // namespace fairlead::schedule::rehearsed
