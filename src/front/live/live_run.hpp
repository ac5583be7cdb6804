// The live page of a runtime with what it shows beyond the engine: the phase of the program, the ranks, how the run
// ends.
#pragma once
#include <fairlead/config.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "front/live/live_page.hpp"
#include "front/live/live_progress.hpp"
#include "front/live/live_state.hpp"

namespace fairlead::front {

class LiveRun {
 public:
  /// `settings`: `live`, `live-address` and `live-token` count.
  LiveRun(engine::RuntimeCore& core, std::function<engine::StatusReport()> situation, Config settings)
      : core_(core), situation_(std::move(situation)), settings_(std::move(settings)) {}

  /// Opens the page, if it is not open, at the port plus the number of the rank; 0: a free port. Returns its address.
  /// Throws ConfigError for a port above 65,535, otherwise as LivePage. The program's thread.
  std::string serve(std::uint64_t port);
  /// The same at the port of the setting `live`, printing the address; nothing without it.
  void serve_by_setting(const Config& settings);
  /// Closes the page; pages in browsers show the end of the run. Idempotent.
  void end(bool by_exception) noexcept;
  /// The run ends with this error. Any thread.
  void note_failure(const std::string& why) noexcept;
  LiveProgressSource& progress() noexcept { return progress_; }
  /// The number of threads of this object.
  std::size_t threads() const noexcept { return page_ ? 1 : 0; }

 private:
  Json state(bool ending) const;

  engine::RuntimeCore& core_;
  const std::function<engine::StatusReport()> situation_;
  const Config settings_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  LiveProgressSource progress_;
  LiveFacts fixed_facts_;  // set before the page is open
  mutable std::mutex mutex_;
  LiveEnd end_;                   // guarded by mutex_
  std::optional<LivePage> page_;  // last: its thread uses the other members
};

}  // namespace fairlead::front
