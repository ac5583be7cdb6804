// The link of a device behind a driver: one thread per direction, which starts copies in submission order and waits
// for them in that order. A derived class transfers the bytes and sets the number of copies in flight.
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/transfer_engine.hpp"

namespace fairlead::backend {

/// A derived class calls begin_threads() at the end of its constructor, and stop() at the start of its destructor.
class DriverLink : public TransferEngine {
 public:
  DriverLink(const DriverLink&) = delete;
  DriverLink& operator=(const DriverLink&) = delete;

  void start(const Transfer& load) override;
  /// Waits for copies in flight; drops waiting ones.
  void stop() noexcept override;
  std::size_t threads() const noexcept override { return ways_.size(); }

 protected:
  static constexpr unsigned to_device = 0, from_device = 1;
  static constexpr unsigned directions = 2;

  /// `together`: copies in flight per direction, each in its own slot.
  explicit DriverLink(unsigned together) : together_(together) {}
  /// Throws std::system_error and std::bad_alloc.
  void begin_threads();

 private:
  struct Way {
    std::deque<Transfer> loads;
    std::vector<Transfer> in_flight;  // used by its thread, by slot; never reallocated
    std::thread thread;
  };
  void run(unsigned direction);

  // Called by the thread of that direction. Exceptions fail the copy.
  /// Starts a copy in a free slot. If the outcome is an error, the copy has ended.
  virtual TransferResult start_copy(unsigned direction, unsigned slot, const Transfer& load) = 0;
  /// Waits for the copy in the slot.
  virtual TransferResult wait_for_copy(unsigned direction, unsigned slot, const Transfer& load) = 0;
  /// Called when the thread is about to end.
  virtual void thread_ending(unsigned) noexcept {}

  const unsigned together_;
  std::mutex mutex_;  // guards the loads and the fields below, except the threads
  std::condition_variable changed_;
  bool ending_ = false;
  std::array<Way, directions> ways_;
};

}  // namespace fairlead::backend
