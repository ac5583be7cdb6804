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

#include "backend/carrier.hpp"
#include "backend/disk/bandwidth_cap.hpp"
#include "base/time.hpp"

namespace fairlead::backend {

class Wire final : public Carrier, public Chore {
 public:
  enum class PlayedBy : std::uint8_t {
    own_thread,  // copies go on beside tasks
    worker,      // the device's worker has it as a chore
  };
  struct Settings {
    Bytes bytes_per_second = 0;  ///< 0: as fast as memory is
    Duration latency{};          ///< of each move, besides its bytes' time
    PlayedBy played_by = PlayedBy::own_thread;
  };
  struct World {
    std::function<Time()> clock;
    std::function<void()> wake;  ///< there is something to play for the worker; called by whoever starts
  };

  Wire(Settings settings, World world);
  ~Wire() override { stop(); }

  void start(const Load& load) override;
  /// Ends the move that is under way; those that wait are forgotten.
  void stop() noexcept override;
  /// From now on moves take as long as memory does.
  void hurry() noexcept override;
  std::size_t threads() const noexcept override { return thread_.joinable() ? 1 : 0; }
  void do_one() noexcept override;

 private:
  struct Move {
    Load load;
    Time started{};  // it takes its bytes' time from then on, or later
  };
  void run();
  void make(const Load& load) const;

  const Settings settings_;
  const World world_;
  std::mutex mutex_;  // guards what follows but the thread
  std::condition_variable changed_;
  std::deque<Move> queue_;
  BandwidthCap cap_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fairlead::backend
