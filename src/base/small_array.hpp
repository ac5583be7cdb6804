// A fixed-size array with inline storage for up to `few` elements; only larger ones are allocated.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace fairlead {

template <class T, std::size_t few>
class SmallArray {
 public:
  explicit SmallArray(std::size_t size) : size_(size) {
    if (size > few) many_.resize(size);
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  T& operator[](std::size_t i) noexcept { return data()[i]; }
  std::span<T> all() noexcept { return {data(), size_}; }
  T* data() noexcept { return size_ > few ? many_.data() : few_.data(); }

 private:
  std::size_t size_;
  std::array<T, few> few_{};
  std::vector<T> many_;
};

}  // namespace fairlead
