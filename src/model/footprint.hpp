// What a task's duration is looked up by besides its codelet: the sizes of its data, and the work that the
// codelet's formula says.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>

namespace fairlead::model {

class Footprint {
 public:
  /// The next datum of the task.
  constexpr void add(Bytes bytes) noexcept {
    hash_ = (hash_ ^ bytes) * 0x9e37'79b9'7f4a'7c15u;
    hash_ ^= hash_ >> 32;
    size_ += bytes;
  }
  /// What the formula says, if it says something: then that is the size, not the bytes.
  constexpr void add_work(float work) noexcept {
    if (!(work > 0)) return;
    const auto whole =
        work >= 9e18f ? std::uint64_t{9'000'000'000'000'000'000u} : static_cast<std::uint64_t>(work);
    add(whole);
    size_ = whole;
  }
  /// How many workers it runs on, if it may be several. Sizes stay what they are.
  constexpr void add_workers(std::uint64_t workers) noexcept {
    const std::uint64_t size = size_;
    add(workers);
    size_ = size;
  }
  /// Equal for tasks of one codelet that should take equally long. The highest bit is not set.
  constexpr std::uint64_t hash() const noexcept { return hash_ >> 1; }
  /// What regression runs over: bytes, or what the formula counts.
  constexpr std::uint64_t size() const noexcept { return size_; }

 private:
  std::uint64_t hash_ = 0x2545'f491'4f6c'dd1du;
  std::uint64_t size_ = 0;
};

}  // namespace fairlead::model
