// How much faster the fastest kind of worker is on the tasks of a bucket, and from how many tasks on the
// slower ones may take some. Bramas 2019, "Speedup factors".
//
// The text says "more than" N x S tasks, its example "six or more" for 3 x 2: here it is at least. The paper
// has one factor for each bucket; where factors are found, each slower kind has its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule::heteroprio {

struct Speedup {
  std::optional<WorkerKind> fastest;  ///< none: nothing is known
  ByKind<double> over{1, 1, 1, 1};    ///< it is so many times as fast as workers of that kind
};

/// Whether a worker of this kind sees `waiting` tasks, or an empty bucket. `workers`: how many there are of
/// each kind, without those that are lost. If the fastest kind is not among those that can run the tasks (bit
/// k of `kinds`: WorkerKind k), or no worker of it is left, the bucket is everybody's.
bool may_take(const Speedup& speedup, WorkerKind kind, std::size_t waiting, std::uint32_t kinds,
              const ByKind<std::size_t>& workers) noexcept;

/// How good workers of this kind are at it: how many times as fast they are as the best other kind of those
/// in `kinds`. Infinite if there is none, 1 if nothing is known.
double advantage(const Speedup& speedup, WorkerKind kind, std::uint32_t kinds) noexcept;

/// Found from the models' estimates for the tasks that come.
class SpeedupEstimate {
 public:
  /// A task's durations on the kinds in `kinds`, all of them known. True if the factors are noticeably others
  /// than those in force: then they are in force now.
  bool add(const ByKind<Duration>& durations, std::uint32_t kinds);
  const Speedup& speedup() const noexcept { return in_force_; }

 private:
  static constexpr std::size_t remembered = 64;  // tasks; older ones count half, then a quarter, ...
  static constexpr double noticeable = 1.25;

  ByKind<double> sums_{};
  std::size_t count_ = 0;
  Speedup in_force_;
};

}  // namespace fairlead::schedule::heteroprio
