// The load rule: a task goes where the data that it reads are, unless it would finish much earlier elsewhere. PaRSEC
// 2025 (placement), section 3.1, "Load-based data placement strategy".
//
// The paper describes three values of its skew: 0.2, the data's device while its completion is less than 20 % above the
// earliest; 0, always the data's device; 1, always the earliest. No bound (1 + skew) has this effect; both ends would
// be reversed. A single factor f has: the data's device while f x its completion is at most the earliest one, f = 1 /
// (1 + tolerance); reuse-only is f = 0, load-only f = 1.
#pragma once
#include <span>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// A node on which the task being placed can run.
struct Candidate {
  std::size_t place = 0;  ///< position in View::nodes()
  Duration estimate{};    ///< duration of the task's body there
  Duration completion{};  ///< expected completion time (ETC)
  Bytes held = 0;         ///< bytes of its inputs there, if they count for the placement
};

class LoadRule {
 public:
  /// Parses the option "tolerance". Throws ConfigError if it is invalid.
  explicit LoadRule(const PolicyOptions& options);

  /// `candidates`: in order of their places, at least one.
  const Candidate& choose(std::span<const Candidate> candidates) const;

 private:
  double factor_;
};

}  // namespace fairlead::schedule
