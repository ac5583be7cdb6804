// What cores have to make: data whose first value is computed instead of read. Workers take it from here
// between two tasks; what waits for it is space that is reserved already, or a buffer of a wire, so that
// nobody who computes ever waits for anything (docs/memory.md, rule 4).
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "memory/replica.hpp"

namespace fairlead::backend {

/// A copy's bytes from `first` on, or all of them.
struct Generation {
  memory::Copy* copy = nullptr;
  std::byte* to = nullptr;
  Bytes first = 0, bytes = 0;
  void* token = nullptr;  ///< the submitter's
};

class Generations {
 public:
  void submit(const Generation& generation);
  /// Sequentially consistent: who has submitted looks afterwards at who sleeps, who goes to sleep looks here
  /// afterwards.
  bool empty() const noexcept { return waiting_.load() == 0; }
  std::optional<Generation> take();
  /// Calls the generator. 0, or an errno: then the copy has what it threw.
  int make(const Generation& generation) noexcept;

 private:
  std::mutex mutex_;  // guards the queue, and the failures of copies under way
  std::deque<Generation> queue_;
  alignas(64) std::atomic<std::size_t> waiting_{0};  // queue_.size(); every worker looks before every task
};

}  // namespace fairlead::backend
