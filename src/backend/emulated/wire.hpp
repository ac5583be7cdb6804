// An emulated wire: moves bytes between RAM and the memory of an emulated accelerator, or between two of
// those, one move after the other, each taking as long as the wire's bandwidth says. A duplex wire does that in
// both directions at the same time. Threads of its own play it, one for each direction, or, where copies block
// the device, the device's worker between two tasks.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
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
    own_threads,  // copies go on beside tasks
    worker,       // the device's worker has it as a chore
  };
  struct Settings {
    Bytes bytes_per_second = 0;  ///< of each direction if it is duplex; 0: as fast as memory is
    bool duplex = false;         ///< not if a worker plays it, which makes one move at a time
    Duration latency{};          ///< of each move, besides its bytes' time
    PlayedBy played_by = PlayedBy::own_threads;
  };
  struct World {
    std::function<Time()> clock;
    std::function<void()> wake;  ///< there is something to play for the worker; called by whoever starts
    std::function<Outcome()> outcome{};  ///< of a move that is over; unset: it is good
  };

  Wire(Settings settings, World world);
  ~Wire() override { stop(); }

  void start(const Load& load) override;
  /// Ends the move that is under way; those that wait are forgotten.
  void stop() noexcept override;
  /// From now on moves take as long as memory does.
  void hurry() noexcept override;
  std::size_t threads() const noexcept override;
  void do_one() noexcept override { make_next(ways_.front()); }

 private:
  struct Move {
    Load load;
    Time started{};  // it takes its bytes' time from then on, or later
  };
  /// What waits for its turn.
  struct Way {
    explicit Way(Bytes bytes_per_second) : cap(bytes_per_second) {}
    std::deque<Move> queue;
    BandwidthCap cap;
    std::thread thread;
  };
  Way& way_of(const Load& load) noexcept { return ways_[settings_.duplex && !load.away_from_home ? 1 : 0]; }
  void run(Way& way);
  void make_next(Way& way) noexcept;
  void make(const Load& load) const;

  const Settings settings_;
  const World world_;
  std::mutex mutex_;  // guards what follows but the threads
  std::condition_variable changed_;
  bool ending_ = false;
  std::array<Way, 2> ways_;  // the second one back, if it is duplex
};

}  // namespace fairlead::backend
