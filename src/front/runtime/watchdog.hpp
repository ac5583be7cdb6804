// Reports stalls: if nothing has happened for a while although a thread waits and no body runs, a report lists what
// waits for what.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.hpp"
#include "engine/status_report.hpp"

namespace fairlead::front {

class Watchdog {
 public:
  using Receiver = std::function<void(const std::string& text)>;
  struct Sources {
    std::function<std::uint64_t()> activity;  ///< changes whenever something happens
    std::function<engine::StatusReport()> situation;
  };

  /// `period`: time without activity before a report; 0 disables reports. `tell` is called by the watchdog's thread
  /// once per stall, and again after twice the time if the stall lasts.
  Watchdog(Duration period, Sources sources, Receiver tell);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// Stops the reports. After it returns, no call of the receiver is running.
  void end() noexcept;
  /// Replaces the receiver of the reports. Thread-safe.
  void set_receiver(Receiver tell);
  /// The number of threads of this object.
  std::size_t threads() const noexcept { return thread_.joinable() ? 1 : 0; }
  /// The text of a report after `quiet` time without activity.
  static std::string text_of(const engine::StatusReport& situation, Duration quiet);

 private:
  void watch();
  void report(Duration quiet, Duration& next);

  const Duration period_;
  const Sources sources_;
  std::mutex mutex_;  // guards the fields below except the thread
  std::condition_variable end_;
  bool ending_ = false;
  Receiver tell_;
  std::thread thread_;
};

}  // namespace fairlead::front
