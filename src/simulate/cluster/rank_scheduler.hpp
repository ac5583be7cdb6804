// Programs that wait in one virtual time. Each program is written as for a real machine, where a wait returns only
// after the awaited event; therefore each has a thread, and one thread runs at a time. Time advances while all of them
// wait. The order of turns depends on the events alone, so a run of many programs is as repeatable as a run of one.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "backend/sim/timeline.hpp"

namespace fairlead::simulate {

class RankScheduler {
 public:
  RankScheduler(backend::Timeline& timeline, std::size_t programs)
      : timeline_(timeline), programs_(programs) {}
  RankScheduler(const RankScheduler&) = delete;
  RankScheduler& operator=(const RankScheduler&) = delete;

  /// Runs program(i) for each program, in order up to its first wait, and returns when all have finished. Throws the
  /// first exception, in order of the programs.
  void run(const std::function<void(std::size_t)>& program);

  // ---- for the program that has the turn

  /// Waits for done(), which may be called on any of the threads. Throws Error if no events are left and done() is
  /// false.
  void wait(std::size_t program, const std::function<bool()>& done);
  /// The condition of that program may have become true.
  void notify(std::size_t program);
  backend::Timeline& timeline() noexcept { return timeline_; }

 private:
  struct Program {
    std::condition_variable turn;
    const std::function<bool()>* waits_for = nullptr;
    bool looked_at = false;  // in to_look_at_
    std::exception_ptr failure;
  };
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t next();
  std::size_t find_waiting(bool whatever_for) const;
  void pass_turn();
  bool await(std::size_t program);
  void abandon() noexcept;

  backend::Timeline& timeline_;
  // Accessed by the program that has the turn.
  std::deque<Program> programs_;
  std::deque<std::size_t> to_look_at_;
  std::size_t begun_ = 0;
  bool nothing_left_ = false;
  std::exception_ptr failure_;  // of the events between turns
  std::mutex mutex_;            // guards turn_, over_ and abandoned_
  std::size_t turn_ = none;
  std::condition_variable all_over_;
  bool over_ = false;       // guarded by mutex_
  bool abandoned_ = false;  // guarded by mutex_: no program gets another turn
};

}  // namespace fairlead::simulate
