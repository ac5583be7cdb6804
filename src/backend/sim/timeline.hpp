// Virtual time, which several simulated worlds can share: step() performs the earliest event of all worlds. At equal
// times the world that joined first precedes, and each world orders its own events. So a run of many worlds is as
// reproducible as one of a single world.
#pragma once
#include <fairlead/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace fairlead::backend {

/// Thrown by a simulation that was requested to stop.
class SimulationStopped : public Error {
 public:
  SimulationStopped() : Error("the simulation was interrupted") {}
};

/// Used by one thread.
class Timeline {
 public:
  /// A world as a source of timed events.
  class Member {
   public:
    virtual ~Member() = default;
    /// The time of its next event; Time::max(): none.
    virtual Time next() const noexcept = 0;
    /// Performs its next event, calling reaches() with that time first. False if there is none.
    virtual bool step() = 0;
  };

  Time now() const noexcept { return now_; }
  /// Called by the member whose event is performed. Throws Error at the end of virtual time.
  void reaches(Time at) {
    if (at >= end_of_virtual_time) [[unlikely]]
      throw_at_end();
    now_ = at;
  }

  /// Members stay until they leave; numbers are not reused.
  std::uint32_t join(Member& member);
  void leave(std::uint32_t number) noexcept;
  /// The result of the member's next() may have changed other than by its step().
  void changed(std::uint32_t number) {
    if (members_.size() > 1) changed_.push_back(number);
  }
  /// Once the flag is true, which another thread may set, step() throws SimulationStopped. Null: never.
  void stop_on(const std::atomic<bool>* requested) noexcept { stop_requested_ = requested; }
  /// Performs the earliest event of all worlds. False if there is none.
  bool step();

 private:
  [[noreturn]] static void throw_at_end();
  void update(std::uint32_t number);
  /// The event of `number` precedes that of `other`.
  bool is_before(std::uint32_t number, std::uint32_t other) const noexcept {
    return next_[number] != next_[other] ? next_[number] < next_[other] : number < other;
  }
  void play_match(std::size_t match) noexcept;
  void set(std::uint32_t number, Time next) noexcept;

  Time now_{};
  const std::atomic<bool>* stop_requested_ = nullptr;
  std::vector<Member*> members_;  // by number; null: has left
  // A tournament tree over a power of two of places, some of them unused.
  std::vector<Time> next_;  // by number: the time that the tree currently uses
  std::vector<std::uint32_t>
      winners_;  // for match i, the winner of matches 2 i and 2 i + 1; the last matches are between
                 // members.
  std::vector<std::uint32_t> changed_;  // to be updated in the tree
};

}  // namespace fairlead::backend
