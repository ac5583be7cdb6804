// Programs that wait in one virtual time. Each is written as for a real machine, where waiting does not return before
// what is waited for has happened; so each has a thread, of which one at a time runs. Time goes on while all of them
// wait. Whose turn comes next follows from what happens alone: a run of many programs is as repeatable as that of one.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "backend/sim/timeline.hpp"

namespace fairlead::simulate {

class Turns {
 public:
  Turns(backend::Timeline& timeline, std::size_t programs) : timeline_(timeline), programs_(programs) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Runs program(i) for each of them, from the first to the last as far as each comes without waiting, and returns
  /// when all are over. Throws what the first of them has thrown.
  void run(const std::function<void(std::size_t)>& program);

  // ---- of whoever's turn it is

  /// Until done(), which any of the threads may call. Throws Error if that will never be, since nothing is left to
  /// happen.
  void wait(std::size_t program, const std::function<bool()>& done);
  /// What that program waits for may have happened.
  void look_at(std::size_t program);
  backend::Timeline& timeline() noexcept { return timeline_; }

 private:
  struct Program {
    std::condition_variable turn;
    const std::function<bool()>* waits_for = nullptr;
    bool looked_at = false;  // soon
    std::exception_ptr failure;
  };
  static constexpr std::size_t nobody = ~std::size_t{0};

  std::size_t next();
  std::size_t someone_who_waits(bool whatever_for) const;
  void hand_on();
  bool await(std::size_t program);
  void abandon() noexcept;

  backend::Timeline& timeline_;
  // Of whoever's turn it is.
  std::deque<Program> programs_;
  std::deque<std::size_t> to_look_at_;
  std::size_t begun_ = 0;
  bool nothing_left_ = false;
  std::exception_ptr failure_;  // of what happens between the turns
  std::mutex mutex_;            // guards turn_
  std::size_t turn_ = nobody;
  std::condition_variable all_over_;
  bool over_ = false;       // likewise
  bool abandoned_ = false;  // likewise: nobody gets a turn any more
};

}  // namespace fairlead::simulate
