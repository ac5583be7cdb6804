// An emulated link between RAM and an emulated device, or between two of them. It moves one transfer at a time, each
// as long as the link's bandwidth implies; a duplex link does so in both directions at once. Its own threads run it,
// one per direction; or, if copies block the device, the device's worker between two tasks.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "backend/disk/bandwidth_cap.hpp"
#include "backend/transfer_engine.hpp"
#include "base/time.hpp"

namespace fairlead::backend {

class EmulatedLink final : public TransferEngine, public Chore {
 public:
  enum class PlayedBy : std::uint8_t {
    own_threads,  // copies overlap with tasks
    worker,       // the device's worker runs it as a chore
  };
  struct Settings {
    Bytes bytes_per_second = 0;  ///< per direction if duplex; 0: as fast as memory
    bool duplex = false;         ///< false if a worker runs it, which does one transfer at a time
    Duration latency{};          ///< of each transfer, in addition to the time of its bytes
    PlayedBy played_by = PlayedBy::own_threads;
  };
  struct World {
    std::function<Time()> clock;
    std::function<void()> wake;                 ///< wakes the worker; called by the submitting thread
    std::function<TransferResult()> outcome{};  ///< outcome of a completed transfer; unset: success
  };

  EmulatedLink(Settings settings, World world);
  ~EmulatedLink() override { stop(); }

  void start(const Transfer& load) override;
  /// Ends the running transfer; drops waiting ones.
  void stop() noexcept override;
  /// Removes the bandwidth limit.
  void skip_throttling() noexcept override;
  std::size_t threads() const noexcept override;
  void run_one() noexcept override { run_next(ways_.front()); }

 private:
  struct Move {
    Transfer load;
    Time started{};  // submission time: its interval on the link starts then or later
  };
  /// Waiting transfers of one direction.
  struct Way {
    explicit Way(Bytes bytes_per_second) : cap(bytes_per_second) {}
    std::deque<Move> queue;
    BandwidthCap cap;
    std::thread thread;
  };
  Way& way_of(const Transfer& load) noexcept {
    return ways_[settings_.duplex && !load.away_from_home ? 1 : 0];
  }
  void run(Way& way);
  void run_next(Way& way) noexcept;
  void copy_bytes(const Transfer& load) const;

  const Settings settings_;
  const World world_;
  std::mutex mutex_;  // guards the fields below, except the threads
  std::condition_variable changed_;
  bool ending_ = false;
  std::array<Way, 2> ways_;  // the second is the direction back, if duplex
};

}  // namespace fairlead::backend
