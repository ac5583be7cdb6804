// Scratch memory for tasks: buffers of one size, made when first needed, as many as tasks run at once, and
// kept. A program that counts its memory multiplies: workers x bytes.
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

  /// A buffer, given back at the end.
  class Lease {
   public:
    Lease(ScratchPool& pool, std::unique_ptr<std::byte[]> buffer) noexcept
        : pool_(pool), buffer_(std::move(buffer)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard guard(pool_.mutex_);
      pool_.unused_.push_back(std::move(buffer_));  // has room: see lease()
    }
    std::span<std::byte> bytes() const noexcept { return {buffer_.get(), pool_.bytes_each_}; }
    /// As numbers, as many as there is room for.
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
      unused_.reserve(++made_);  // giving back allocates nothing
      return {*this, std::make_unique_for_overwrite<std::byte[]>(bytes_each_)};
    }
    auto buffer = std::move(unused_.back());
    unused_.pop_back();
    return {*this, std::move(buffer)};
  }

 private:
  std::size_t bytes_each_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<std::byte[]>> unused_;
  std::size_t made_ = 0;
};

}  // namespace fairlead::linalg
