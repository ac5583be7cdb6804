// See rank_scheduler.hpp.
#include "simulate/cluster/rank_scheduler.hpp"

#include <fairlead/error.hpp>

#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::simulate {

void RankScheduler::run(const std::function<void(std::size_t)>& program) {
  if (programs_.empty()) return;
  JoinedThreads threads;
  try {
    for (std::size_t i = 0; i < programs_.size(); ++i)
      threads.start(
          [this, i, &program] {
            if (!await(i)) return;
            try {
              program(i);
            } catch (...) {
              programs_[i].failure = std::current_exception();
            }
            pass_turn();
          },
          [this, i](std::exception_ptr why) {
            programs_[i].failure = std::move(why);
            abandon();
          });
  } catch (...) {  // No thread or no memory: none of the programs has started.
    abandon();
    throw;
  }
  pass_turn();
  {
    std::unique_lock lock(mutex_);
    all_over_.wait(lock, [this] { return over_; });
  }
  threads.join();
  if (failure_) std::rethrow_exception(failure_);
  for (const Program& it : programs_)
    if (it.failure) std::rethrow_exception(it.failure);
}

void RankScheduler::wait(std::size_t program, const std::function<bool()>& done) {
  if (done()) return;
  Program& it = programs_[program];
  it.waits_for = &done;
  std::size_t following = none;
  try {
    following = next();
  } catch (...) {
    it.waits_for = nullptr;
    throw;
  }
  if (following != program) {
    {
      const std::lock_guard guard(mutex_);
      turn_ = following;
      programs_[following].turn.notify_one();
    }
    const bool has_turn = await(program);
    it.waits_for = nullptr;
    if (!has_turn) throw Error("internal: a program of the simulated cluster cannot continue");
  }
  it.waits_for = nullptr;
  if (!done()) throw Error("internal: no event is left on any rank, but a program still waits");
}

void RankScheduler::notify(std::size_t program) {
  if (std::exchange(programs_[program].looked_at, true)) return;
  to_look_at_.push_back(program);
}

std::size_t RankScheduler::find_waiting(bool whatever_for) const {
  for (std::size_t i = 0; i < begun_; ++i)
    if (programs_[i].waits_for != nullptr && (whatever_for || (*programs_[i].waits_for)())) return i;
  return none;
}

/// Advances time until a program can continue, and returns it. `none`: all programs have finished.
std::size_t RankScheduler::next() {
  if (begun_ < programs_.size()) return begun_++;
  for (;;) {
    while (!to_look_at_.empty()) {
      const std::size_t program = to_look_at_.front();
      to_look_at_.pop_front();
      Program& it = programs_[program];
      it.looked_at = false;
      if (it.waits_for != nullptr && (*it.waits_for)()) return program;
    }
    if (!nothing_left_ && timeline_.step()) continue;
    if (const std::size_t program = find_waiting(false); program != none) return program;
    nothing_left_ = true;  // each program that still waits gets an error
    return find_waiting(true);
  }
}

/// Passes the turn on when the caller's program has finished, or to start the first one.
void RankScheduler::pass_turn() {
  std::size_t following = none;
  try {
    following = next();
  } catch (...) {  // the next event failed: each program that waits gets an error
    if (failure_ == nullptr) failure_ = std::current_exception();
    nothing_left_ = true;
    following = next();
  }
  const std::lock_guard guard(mutex_);
  turn_ = following;
  if (following != none) return programs_[following].turn.notify_one();
  over_ = true;
  all_over_.notify_one();
}

/// Returns false if the programs are abandoned before this one has started.
bool RankScheduler::await(std::size_t program) {
  std::unique_lock lock(mutex_);
  programs_[program].turn.wait(lock, [&] { return turn_ == program || abandoned_; });
  return turn_ == program;
}

void RankScheduler::abandon() noexcept {
  const std::lock_guard guard(mutex_);
  abandoned_ = over_ = true;
  for (Program& it : programs_) it.turn.notify_one();
  all_over_.notify_one();
}

}  // namespace fairlead::simulate
