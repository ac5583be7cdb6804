// Why a run cannot go on: a write-back that failed, so that a value exists in memory only, or something
// inside that went wrong, after which nothing is served.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <exception>
#include <utility>

namespace fairlead::engine {

class Stop {
 public:
  // ---- any thread

  /// Something inside went wrong: fatal() says what.
  bool stopped() const noexcept { return stopped_.load(); }
  /// Of the write-back that failed, else 0. Once it is not 0 the two below do not change any more.
  int error() const noexcept { return error_.load(); }
  DatumId datum() const noexcept { return datum_; }
  /// What the world said about it; null: nothing more.
  std::exception_ptr failure() const noexcept { return failure_; }

  // ---- under the engine's lock

  /// What is known is no longer consistent: whoever waits has to look. Null: all is well.
  const std::exception_ptr& fatal() const noexcept { return fatal_; }
  void note_fatal(std::exception_ptr why) noexcept {
    if (fatal_ == nullptr) fatal_ = std::move(why);
    stopped_.store(true);
  }
  /// The first one counts. True if this is it.
  bool note_lost_write(int error, DatumId datum, std::exception_ptr failure) noexcept {
    if (error_ != 0) return false;
    datum_ = datum;
    failure_ = std::move(failure);
    error_ = error;  // after the others: other threads look at it first
    return true;
  }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<int> error_{0};
  DatumId datum_ = no_id<DatumId>;
  std::exception_ptr failure_, fatal_;
};

}  // namespace fairlead::engine
