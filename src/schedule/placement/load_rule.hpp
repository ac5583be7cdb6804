// The load rule: a task goes where the data that it reads are, unless it would be over so much earlier
// elsewhere. PaRSEC 2025 (placement), section 3.1, "Load-based data placement strategy".
//
// The paper's skew has three printed values: 0.2, the data's device while its completion is less than 20 %
// above the earliest; 0, always the data's; 1, always the earliest. No bound (1 + skew) does that, it would
// mean the contrary at both ends. Here one factor f does: the data's device while f x its completion is at
// most the earliest one, f = 1 / (1 + tolerance); reuse-only is f = 0, load-only f = 1.
#pragma once
#include <span>

#include "policy/policy.hpp"

namespace fairlead::schedule {

/// A node on which the task that is being placed can run.
struct Candidate {
  std::size_t place = 0;  ///< its position among the nodes
  Duration estimate{};    ///< of the task's body there
  Duration completion{};  ///< when it would be over: ETC
  Bytes held = 0;         ///< of what it reads, if that may draw it there
};

class LoadRule {
 public:
  /// By the option "tolerance". Throws ConfigError for what it cannot be.
  explicit LoadRule(const PolicyOptions& options);

  /// Among candidates in order of their places; there is one.
  const Candidate& choose(std::span<const Candidate> candidates) const;

 private:
  double factor_;
};

}  // namespace fairlead::schedule
