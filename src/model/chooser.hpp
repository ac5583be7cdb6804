// Chooses the implementation of a codelet that runs a task, if there are several for the kind of worker. Each is
// tried until the duration model has measured it, then the fastest runs. Its durations stay up to date by themselves;
// occasional trial runs detect that another implementation has become faster. Choices depend only on earlier calls,
// so that a replay repeats them.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/duration_model.hpp"

namespace fairlead::model {

/// Not thread-safe.
class ImplementationChooser {
 public:
  /// Concurrent trial runs of an implementation without an estimate: as many as it needs to get one.
  static constexpr unsigned tries_at_once = QuantileHistory::enough + 1;
  /// Cost limit of trial runs: in the long run 1 / trial_share of the tasks' time, for each codelet, kind of worker
  /// and footprint. A trial run starts when tasks of the fastest implementation have taken trial_share times its
  /// expected cost. It is charged its actual cost, but at least the duration of one task of the fastest. So the
  /// number of trials is limited, too, even if implementations are almost equally fast. A trial as fast as the
  /// fastest is followed by another at once, free of charge.
  static constexpr std::int64_t trial_share = 64;

  explicit ImplementationChooser(const DurationModel& durations) noexcept : durations_(durations) {}

  /// The number of the implementation that runs the next task. A call of over() or returned() must follow.
  unsigned choose(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint);
  /// The task ran; if it succeeded, the model has recorded its duration.
  void over(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
            unsigned implementation, Duration duration, bool succeeded);
  /// The task was not started.
  void returned(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                unsigned implementation);

  /// The duration of a task: of the fastest measured implementation, or the best available estimate.
  Estimate estimate(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint) const;

 private:
  struct TrialState {
    std::uint32_t running = 0;  // started and not finished
    bool trial = false;         // one of these is a trial run
    bool at_once = false;       // the last trial run was as fast as the fastest
    std::int64_t saved_ns = 0;  // budget for trials: time of the fastest's tasks less charged costs
  };
  using Choice = std::vector<TrialState>;  // by implementation
  /// The choices of one codelet on one kind of processor.
  struct Family {
    // by footprint; never iterated, since its order is not deterministic
    std::unordered_map<std::uint64_t, Choice> choices;
  };
  /// The estimates for one task, and the fastest measured implementation; `fastest` is `count` if none was measured.
  struct Candidates {
    std::array<Estimate, CodeletInfo::most_implementations> estimates;
    std::size_t count = 0, fastest = 0;
    bool any() const noexcept { return fastest != count; }
    std::int64_t ns(std::size_t i) const noexcept;
    /// The charge of a trial: its duration beyond that of the fastest, but at least one task of the fastest.
    std::int64_t cost(std::int64_t duration_ns) const noexcept;
  };

  Candidates lookup(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint) const;
  Choice& choice_of(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint);
  /// The implementation that is due for a trial, or the fastest.
  static std::size_t trial_or_fastest(Choice& choice, const Candidates& known) noexcept;

  const DurationModel& durations_;
  // never iterated, since its order is not deterministic
  std::unordered_map<std::uint64_t, Family> families_;
};

}  // namespace fairlead::model
