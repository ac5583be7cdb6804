// The thread that watches for stalls. See watchdog.hpp.
#include "front/runtime/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "base/guarded_thread.hpp"

namespace fairlead::front {

namespace {
constexpr int looks_per_period = 8;
}

Watchdog::Watchdog(Duration period, Sources sources, Receiver tell)
    : period_(period), sources_(std::move(sources)), tell_(std::move(tell)) {
  if (period_ > Duration{}) thread_ = guarded_thread([this] { watch(); }, ignore_failure);
}

void Watchdog::end() noexcept {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Watchdog::~Watchdog() { end(); }

void Watchdog::set_receiver(Receiver tell) {
  const std::lock_guard guard(mutex_);
  tell_ = std::move(tell);
}

std::string Watchdog::text_of(const engine::StatusReport& situation, Duration quiet) {
  return fmt::format("nothing has happened for {:.3g} s, and {} {} not over:\n{}",
                     static_cast<double>(quiet.count()) * 1e-9, situation.unfinished,
                     situation.unfinished == 1 ? "task or hold is" : "tasks or holds are", situation.text());
}

void Watchdog::report(Duration quiet, Duration& next) {
  const engine::StatusReport situation = sources_.situation();
  if (!situation.stalled()) return;
  const std::string text = text_of(situation, quiet);
  next = quiet * 2;
  Receiver tell;
  {
    const std::lock_guard guard(mutex_);
    tell = tell_;
  }
  if (tell != nullptr) tell(text);
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  const auto look_every = std::chrono::nanoseconds(std::max(period_ / looks_per_period, Duration(1'000'000)));
  std::uint64_t before = sources_.activity();
  Clock::time_point changed = Clock::now();
  Duration tell_after = period_;
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, look_every, [this] { return ending_; })) {
    lock.unlock();
    const std::uint64_t now = sources_.activity();
    const Duration quiet = std::chrono::duration_cast<Duration>(Clock::now() - changed);
    if (now != before) {
      before = now;
      changed = Clock::now();
      tell_after = period_;
    } else if (quiet >= tell_after) {
      try {
        report(quiet, tell_after);
      } catch (const std::exception&) {
        // The report is retried at the next look, if the stall lasts.
      }
    }
    lock.lock();
  }
}

}  // namespace fairlead::front
