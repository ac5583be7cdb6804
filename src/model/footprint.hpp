// The key of a task's duration, in addition to its codelet: the sizes of its data and the work from the codelet's
// formula.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>

namespace fairlead::model {

class Footprint {
 public:
  /// Adds the task's next datum.
  constexpr void add(Bytes bytes) noexcept {
    hash_ = (hash_ ^ bytes) * 0x9e37'79b9'7f4a'7c15u;
    hash_ ^= hash_ >> 32;
    size_ += bytes;
  }
  /// Adds the formula's result, if positive; it replaces the bytes as the size.
  constexpr void add_work(float work) noexcept {
    if (!(work > 0)) return;
    const auto whole =
        work >= 9e18f ? std::uint64_t{9'000'000'000'000'000'000u} : static_cast<std::uint64_t>(work);
    add(whole);
    size_ = whole;
  }
  /// Adds the number of workers of a parallel task. The size does not change.
  constexpr void add_workers(std::uint64_t workers) noexcept {
    const std::uint64_t size = size_;
    add(workers);
    size_ = size;
  }
  /// Equal for tasks of one codelet with equal expected durations. The highest bit is 0.
  constexpr std::uint64_t hash() const noexcept { return hash_ >> 1; }
  /// The variable of the regression: bytes, or the formula's result.
  constexpr std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t hash_ = 0x2545'f491'4f6c'dd1du;
  std::uint64_t size_ = 0;
};

}  // namespace fairlead::model
