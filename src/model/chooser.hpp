// Which implementation of a codelet runs a task, where there are several for its kind of worker. Each is
// tried until the model of durations has measured it, then the fastest runs. That one's durations follow by
// themselves when they change; that another one has become faster is found out by trial runs now and then.
// What is chosen depends only on what was told and asked before: a replay chooses the same.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/duration_model.hpp"

namespace fairlead::model {

/// Not for several threads at once.
class Chooser {
 public:
  /// So many runs of one that is not known are begun before the first is over: they make it known.
  static constexpr unsigned tries_at_once = QuantileHistory::enough + 1;
  /// What trial runs may cost: in the long run one part in so many of the time that tasks take, for each
  /// codelet, kind of worker and footprint. A trial run comes when the fastest one's tasks have taken so many
  /// times as long as it should cost, and counts for what it really cost, or for one task of the fastest if
  /// that was less: so there are at most that many, too, however close the others are. One that was as fast
  /// as the fastest is followed by another at once, which then costs nothing.
  static constexpr std::int64_t trial_share = 64;

  explicit Chooser(const DurationModel& durations) noexcept : durations_(durations) {}

  /// The number of the one that runs the next task. Either of the two below has to follow.
  unsigned choose(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint);
  /// It ran, and the model knows how long if it succeeded.
  void over(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
            unsigned implementation, Duration duration, bool succeeded);
  /// It did not begin.
  void returned(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                unsigned implementation);

  /// What a task takes there: of the fastest that was measured, or the best that can be said.
  Estimate estimate(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint) const;

 private:
  struct Tried {
    std::uint32_t running = 0;  // begun and not over
    bool trial = false;         // one of these is a trial run
    bool at_once = false;       // the last trial run was as fast as the fastest
    std::int64_t saved_ns = 0;  // of its share: what the fastest one's tasks have taken, less what it cost
  };
  using Choice = std::vector<Tried>;  // by number
  /// The footprints of one codelet on one kind of processor.
  struct Family {
    std::unordered_map<std::uint64_t, Choice> choices;  // by footprint; asked only, never walked through
  };
  /// Of one task: what the model says of each, and which is the fastest that was measured, or none of them.
  struct Known {
    std::array<Estimate, CodeletInfo::most_implementations> estimates;
    std::size_t count = 0, fastest = 0;
    bool any() const noexcept { return fastest != count; }
    std::int64_t ns(std::size_t i) const noexcept;
    /// A task of the fastest apart, or what one more than that takes.
    std::int64_t cost(std::int64_t duration_ns) const noexcept;
  };

  Known look(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint) const;
  Choice& choice_of(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint);
  /// The one whose turn it is to be tried, although another one is the fastest; or that one.
  static std::size_t trial_or_fastest(Choice& choice, const Known& known) noexcept;

  const DurationModel& durations_;
  std::unordered_map<std::uint64_t, Family> families_;  // asked only, never walked through
};

}  // namespace fairlead::model
