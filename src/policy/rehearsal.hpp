// What would happen under other policies, asked before it does: tasks are played beside the run, and what was found is told
// when it is known.
#pragma once
#include <fairlead/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "data/task.hpp"

namespace fairlead {

/// How long a play took, and its first quarters of the work: no play goes evenly.
struct Played {
  Duration time = Duration::max();  ///< longer than anybody wants to know, or it cannot be played
  std::array<Duration, 3> quarters{};
  bool over() const noexcept { return time != Duration::max(); }
};

/// On which the same tasks are played again and again.
class Stage {
 public:
  virtual ~Stage() = default;
  /// Plays them under each of these policies, several at once if there are threads for it, in the order of the program and as if none had begun: on the machine as the
  /// engine knew it, with the data where they were, tasks that take as long as they are estimated to, and results that
  /// go home. Returns when `enough` of their work was over, each task's where it is fastest; all of it: when the
  /// last result is home. Not over: that takes longer than `patience`, or one and a half times as long as another
  /// of them, or it cannot be played.
  virtual std::vector<Played> play(std::span<const std::string> policies, Duration enough,
                                   Duration patience) = 0;
  Played play(const std::string& policy, Duration enough, Duration patience) {
    return play(std::span(&policy, 1), enough, patience).front();
  }
};

/// The event that ends a rehearsal.
struct RehearsalOver : Event {
  std::uint64_t finding = 0;
};

class Rehearsal {
 public:
  /// Plays, and says what was found: whatever the policy understands by it, but for 0: nothing. Called by any
  /// thread, without a lock: it uses the stage and what it owns.
  using Judge = std::function<std::uint64_t(Stage&)>;

  virtual ~Rehearsal() = default;
  /// Notes these unfinished tasks and what is known of them, and returns. Later comes Policy::rehearsed(), with what the
  /// judge found; with 0 if it could not be asked. Throws Error while another one is under way.
  void begin(std::span<Task* const> tasks, Judge judge) {
    if (under_way_) throw Error("internal: the policy begins a rehearsal while another one is under way");
    under_way_ = true;
    try {
      note(tasks, std::move(judge));
    } catch (...) {
      under_way_ = false;
      throw;
    }
  }
  /// It was begun, and its end has not come to Policy::rehearsed(). Only so long is a policy believed that it waits.
  bool under_way() const noexcept { return under_way_; }
  /// Its end is about to be told.
  void over() noexcept { under_way_ = false; }
  /// Cores that nobody else uses: so many plays cost nobody anything. 0: a play takes its share of those who work.
  virtual std::size_t idle_cores() const noexcept { return 0; }
  /// What is found is of no use any more: plays end soon. Policy::rehearsed() comes nevertheless.
  virtual void give_up() noexcept {}

 private:
  virtual void note(std::span<Task* const> tasks, Judge judge) = 0;

  bool under_way_ = false;
};

/// What playing a task takes under one policy, as measured on the machine of docs/performance.md; many workers, most of whom
/// have nothing to do, are asked again and again. By this and by no clock it is decided how much is played: the same run
/// decides the same.
constexpr Duration cost_of_playing_a_task(std::size_t nodes, std::size_t workers) noexcept {
  constexpr std::size_t few = 8;
  return Duration(2000 + 300 * static_cast<std::int64_t>(nodes) +
                  400 * static_cast<std::int64_t>(workers > few ? workers - few : 0));
}

}  // namespace fairlead
