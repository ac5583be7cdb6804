// Looks now and then whether anything still happens. If nothing has for a while, although somebody waits for
// it and no body runs, it says what waits for what.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.hpp"
#include "engine/situation.hpp"

namespace fairlead::front {

class Watchdog {
 public:
  using Tell = std::function<void(const std::string& text)>;
  struct Sources {
    std::function<std::uint64_t()> activity;  ///< changes whenever something happens
    std::function<engine::Situation()> situation;
  };

  /// `period`: of quiet before it tells; 0: it never does. `tell` is called by its thread, once a stall, and
  /// again after twice the time if that goes on.
  Watchdog(Duration period, Sources sources, Tell tell);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Tells nothing more; whoever is being told has returned then.
  void end() noexcept;
  /// Who is told from now on. Any thread.
  void tell_to(Tell tell);
  /// So many are its own.
  std::size_t threads() const noexcept { return thread_.joinable() ? 1 : 0; }
  /// What is told after so much quiet.
  static std::string text_of(const engine::Situation& situation, Duration quiet);

 private:
  void watch();
  void say(Duration quiet, Duration& next);

  const Duration period_;
  const Sources sources_;
  std::mutex mutex_;  // guards what follows but the thread
  std::condition_variable end_;
  bool ending_ = false;
  Tell tell_;
  std::thread thread_;
};

}  // namespace fairlead::front
