// The speedup of the fastest kind of worker over the others on a bucket's tasks, and the minimum number of tasks from
// which slower kinds may take some. Bramas 2019, "Speedup factors".
//
// The text has "more than" N x S tasks, its example "six or more" for 3 x 2: here it is at least. The paper has one
// factor per bucket; estimated factors are separate for each slower kind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule::heteroprio {

struct Speedup {
  std::optional<WorkerKind> fastest;  ///< none: unknown
  ByKind<double> over{1, 1, 1, 1};    ///< speedup of the fastest kind over each kind
};

/// True if workers of this kind may take tasks from a bucket with `waiting` tasks. `workers`: the number of workers of
/// each kind that are not lost. If the fastest kind cannot run the tasks (bit k of `kinds`: WorkerKind k) or has no
/// workers left, all kinds may take them.
bool is_above_threshold(const Speedup& speedup, WorkerKind kind, std::size_t waiting, std::uint32_t kinds,
                        const ByKind<std::size_t>& workers) noexcept;

/// The speedup of workers of this kind over the best other kind in `kinds`. Infinite if there is no other, 1 if
/// unknown.
double relative_speedup(const Speedup& speedup, WorkerKind kind, std::uint32_t kinds) noexcept;

/// Estimates speedups from the models' estimates for arriving tasks.
class SpeedupEstimate {
 public:
  /// Adds a task's durations on the kinds in `kinds`, all of which must be known. Returns true if the factors changed
  /// noticeably; then the new ones take effect.
  bool add(const ByKind<Duration>& durations, std::uint32_t kinds);
  const Speedup& speedup() const noexcept { return current_; }

 private:
  // tasks; the sums are halved each time, so older tasks count half, a quarter, ...
  static constexpr std::size_t window = 64;
  static constexpr double min_change = 1.25;

  ByKind<double> sums_{};
  std::size_t count_ = 0;
  Speedup current_;
};

}  // namespace fairlead::schedule::heteroprio
