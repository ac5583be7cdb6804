// Why a run has stopped: a failed write-back, so that a value exists in memory only, or an internal error, after which
// no event is served.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <exception>
#include <utility>

namespace fairlead::engine {

class StopReason {
 public:
  // ---- any thread

  /// Whether an internal error occurred; see fatal().
  bool stopped() const noexcept { return stopped_.load(); }
  /// The error number of the failed write-back, or 0. Once it is not 0, datum() and failure() do not change any more.
  int error() const noexcept { return error_.load(); }
  DatumId datum() const noexcept { return datum_; }
  /// The world's exception for it; null: none.
  std::exception_ptr failure() const noexcept { return failure_; }

  // ---- under the engine's lock

  /// The internal error, which left the engine's state inconsistent: waiting threads must check. Null: none.
  const std::exception_ptr& fatal() const noexcept { return fatal_; }
  void note_fatal(std::exception_ptr why) noexcept {
    if (fatal_ == nullptr) fatal_ = std::move(why);
    stopped_.store(true);
  }
  /// The first failure counts. Returns true if this is the first.
  bool note_lost_write(int error, DatumId datum, std::exception_ptr failure) noexcept {
    if (error_ != 0) return false;
    datum_ = datum;
    failure_ = std::move(failure);
    error_ = error;  // last: other threads read it first
    return true;
  }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<int> error_{0};
  DatumId datum_ = no_id<DatumId>;
  std::exception_ptr failure_, fatal_;
};

}  // namespace fairlead::engine
