// The wire of a device behind a driver: a thread for each direction, which begins copies in the order in which they come
// and waits for them in that order. How bytes are moved is the driver's, and so is how many may be under way at once.
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/carrier.hpp"

namespace fairlead::backend {

/// Who derives from it calls begin_threads() when all else is made, and stop() before all else ends.
class TwoWayWire : public Carrier {
 public:
  TwoWayWire(const TwoWayWire&) = delete;
  TwoWayWire& operator=(const TwoWayWire&) = delete;

  void start(const Load& load) override;
  /// Waits for the copies that are under way; those that wait are forgotten.
  void stop() noexcept override;
  std::size_t threads() const noexcept override { return ways_.size(); }

 protected:
  static constexpr unsigned to_device = 0, from_device = 1;
  static constexpr unsigned directions = 2;

  /// `together`: copies that are under way in each direction, in a slot each.
  explicit TwoWayWire(unsigned together) : together_(together) {}
  /// Throws std::system_error and std::bad_alloc.
  void begin_threads();

 private:
  struct Way {
    std::deque<Load> loads;
    std::vector<Load> under_way;  // its thread's, by slot: that allocates nothing
    std::thread thread;
  };
  void run(unsigned direction);

  // By the thread of that direction. What they throw is the copy's failure.
  /// Begins a copy in a slot that is free. An outcome that is not good: it is over.
  virtual Outcome begin(unsigned direction, unsigned slot, const Load& load) = 0;
  /// Waits until what was begun in the slot is over.
  virtual Outcome end(unsigned direction, unsigned slot, const Load& load) = 0;
  /// The thread is about to end.
  virtual void leave(unsigned) noexcept {}

  const unsigned together_;
  std::mutex mutex_;  // guards the loads, and what follows but the threads
  std::condition_variable changed_;
  bool ending_ = false;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend
