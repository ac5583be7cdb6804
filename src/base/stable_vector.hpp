// A growing array that never moves its elements. It consists of large chunks; a lookup is a shift, a mask and
// two loads.
#pragma once
#include <array>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "base/slab_arena.hpp"

namespace fairlead {

/// `ChunkSize`: elements per chunk, a power of two. Not thread-safe.
template <class T, std::size_t ChunkSize = 256>
class StableVector {
  static_assert((ChunkSize & (ChunkSize - 1)) == 0, "ChunkSize must be a power of two");

 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    for (std::size_t i = size_; i-- > 0;) (*this)[i].~T();
  }

  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    return append([&] { return T(std::forward<Arguments>(arguments)...); });
  }
  /// Constructs the result of make() in place, at the end.
  template <class Make>
  T& append(Make&& make) {
    if (size_ % ChunkSize == 0 && size_ / ChunkSize == chunks_.size())
      chunks_.push_back(static_cast<std::byte*>(slabs_.take(sizeof(T) * ChunkSize, alignof(T))));
    T* place = reinterpret_cast<T*>(chunks_[size_ / ChunkSize]) + size_ % ChunkSize;
    new (place) T(make());
    ++size_;
    return *std::launder(place);
  }
  T& operator[](std::size_t i) noexcept {
    return *std::launder(reinterpret_cast<T*>(chunks_[i / ChunkSize]) + i % ChunkSize);
  }
  const T& operator[](std::size_t i) const noexcept {
    return *std::launder(reinterpret_cast<const T*>(chunks_[i / ChunkSize]) + i % ChunkSize);
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  SlabArena slabs_;
  std::vector<std::byte*> chunks_;
  std::size_t size_ = 0;
};

}  // namespace fairlead
