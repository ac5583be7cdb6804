// A fixed-size array with inline storage for up to `few` elements; only larger ones are allocated. Trivial elements are
// uninitialized.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace fairlead {

template <class T, std::size_t few>
class SmallArray {
 public:
  explicit SmallArray(std::size_t size) : size_(size) {
    data_ = few_.data();
    if (size <= few) return;
    many_ = std::make_unique_for_overwrite<T[]>(size);
    data_ = many_.get();
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;

  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  std::span<T> all() noexcept { return {data_, size_}; }
  std::span<const T> all() const noexcept { return {data_, size_}; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }

 private:
  std::array<T, few> few_;
  std::unique_ptr<T[]> many_;
  std::size_t size_;
  T* data_;
};

}  // namespace fairlead
