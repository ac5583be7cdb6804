// Objects in a row whose number is known when it is made, and mostly small: then nothing is allocated.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace fairlead {

template <class T, std::size_t few>
class ShortRow {
 public:
  explicit ShortRow(std::size_t size) : size_(size) {
    if (size > few) many_.resize(size);
  }
  ShortRow(const ShortRow&) = delete;
  ShortRow& operator=(const ShortRow&) = delete;

  T& operator[](std::size_t i) noexcept { return data()[i]; }
  std::span<T> all() noexcept { return {data(), size_}; }
  T* data() noexcept { return size_ > few ? many_.data() : few_.data(); }

 private:
  std::size_t size_;
  std::array<T, few> few_{};
  std::vector<T> many_;
};

}  // namespace fairlead
