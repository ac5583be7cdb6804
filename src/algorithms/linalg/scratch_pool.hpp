// Scratch memory for tasks: a pool of buffers of one size, allocated on demand, as many as tasks run concurrently. The
// maximum memory is workers x bytes.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace fairlead::linalg {

class ScratchPool {
 public:
  explicit ScratchPool(std::size_t bytes_each) : bytes_each_(bytes_each) {}

  /// A buffer, returned to the pool on destruction.
  class Lease {
   public:
    Lease(ScratchPool& pool, std::unique_ptr<std::byte[]> buffer) noexcept
        : pool_(pool), buffer_(std::move(buffer)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard guard(pool_.mutex_);
      pool_.unused_.push_back(std::move(buffer_));  // has capacity: see lease()
    }
    std::span<std::byte> bytes() const noexcept { return {buffer_.get(), pool_.bytes_each_}; }
    /// The buffer as numbers, as many as fit.
    template <class T>
    std::span<T> as() const noexcept {
      return {reinterpret_cast<T*>(buffer_.get()), pool_.bytes_each_ / sizeof(T)};
    }

   private:
    ScratchPool& pool_;
    std::unique_ptr<std::byte[]> buffer_;
  };

  Lease lease() {
    const std::lock_guard guard(mutex_);
    if (unused_.empty()) {
      unused_.reserve(++made_);  // so that returning a buffer does not allocate
      return {*this, std::make_unique_for_overwrite<std::byte[]>(bytes_each_)};
    }
    auto buffer = std::move(unused_.back());
    unused_.pop_back();
    return {*this, std::move(buffer)};
  }

 private:
  std::size_t bytes_each_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<std::byte[]>> unused_;
  std::size_t made_ = 0;
};

}  // namespace fairlead::linalg
