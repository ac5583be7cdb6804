// An emulated wire: moves bytes between RAM and the memory of an emulated accelerator, or between two of
// those, one move after the other, each taking as long as the wire's bandwidth says. A thread of its own
// plays it, or, where copies block the device, the device's worker between two tasks.
#pragma once
#include <fairlead/ids.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "backend/disk/bandwidth_cap.hpp"
#include "base/time.hpp"
#include "data/layout.hpp"

namespace fairlead::backend {

/// Bytes from one place to another.
struct Move {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Bytes bytes = 0;
  const data::Layout* layout = nullptr;  ///< of the end in user memory, if that is not one block
  bool unpack = false;                   ///< that end is `to`
  void* token = nullptr;                 ///< the caller's, given back at the end
  Time submitted{};                      ///< the wire's: it takes its bytes' time from then on, or later
};

class Wire {
 public:
  enum class PlayedBy : std::uint8_t {
    own_thread,  // copies go on beside tasks
    worker,      // the device's worker calls play_one() whenever it has no task in hand
  };
  struct Settings {
    Bytes bytes_per_second = 0;  ///< 0: as fast as memory is
    Duration latency{};          ///< of each move, besides its bytes' time
    PlayedBy played_by = PlayedBy::own_thread;
  };
  using Clock = std::function<Time()>;
  using OnDone = std::function<void(void* token)>;

  /// `on_done` is called at the end of each move by the thread that made it, without any lock; it may submit
  /// more. `on_work`: there is something to play for the worker; called by whoever submits.
  Wire(Settings settings, Clock clock, OnDone on_done, std::function<void()> on_work);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { stop(); }

  void submit(const Move& move);
  /// Makes the next move, if there is one; false if not. The thread that plays the wire calls it.
  bool play_one();
  bool waiting() const;
  /// Ends the move that is under way; those that wait are forgotten, and what is submitted from now on too.
  void stop() noexcept;
  /// From now on moves take as long as memory does. Any thread.
  void lift_cap() noexcept;
  bool has_thread() const noexcept { return thread_.joinable(); }

 private:
  void run();
  void make(const Move& move);

  const Settings settings_;
  const Clock clock_;
  const OnDone on_done_;
  const std::function<void()> on_work_;
  mutable std::mutex mutex_;  // guards what follows but the thread
  std::condition_variable changed_;
  std::deque<Move> queue_;
  BandwidthCap cap_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fairlead::backend
