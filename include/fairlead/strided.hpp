// What all arrays among data have in common: how their elements lie in memory. A type of array is a name, a
// shape (what a handle knows), and a view (what a body holds); tile.hpp, vector.hpp and block.hpp say no more
// than these.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace fairlead {

/// An array of up to three dimensions: element (i, j, k) is data[i * strides[0] + j * strides[1] + k *
/// strides[2]]. What has fewer dimensions has extents of 1.
struct Strided {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::array<std::int64_t, 3> strides{1, 0, 0};  ///< in elements

  std::int64_t elements() const noexcept { return extents[0] * extents[1] * extents[2]; }
  std::int64_t offset(const std::array<std::int64_t, 3>& at) const noexcept {
    return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
  }
  /// The same extents without gaps, the first index fastest: how every array lies where it is a copy.
  Strided packed() const noexcept { return {extents, {1, extents[0], extents[0] * extents[1]}}; }
};

/// A type of data whose handles know a shape; bodies get T::view(address, packed, shape), of type
/// T::View<Const>. All but single values.
template <class T>
concept Shaped = requires {
  typename T::Shape;
};

/// A type of data that is an array: T::strided(shape) and back, T::shaped(strided).
template <class T>
concept Array = Shaped<T> && requires(const typename T::Shape& shape, const Strided& strided) {
  typename T::Element;
  { T::strided(shape) } -> std::same_as<Strided>;
  { T::shaped(strided) } -> std::same_as<typename T::Shape>;
};

namespace detail {
/// Throws UsageError, which names the index and the extents of the `array`: "tile", "vector" or "block".
[[noreturn]] void no_such_element(const char* array, std::span<const std::int64_t> at,
                                  std::span<const std::int64_t> extents);

/// What is compiled with FAIRLEAD_CHECK_INDICES throws UsageError for an element that a view does not have.
/// This and the views' operators are always inlined: each file does as it was compiled, whatever the library
/// and others were compiled with.
template <std::size_t N>
[[gnu::always_inline]] inline void check_element([[maybe_unused]] const char* array,
                                                 [[maybe_unused]] const std::int64_t (&at)[N],
                                                 [[maybe_unused]] const std::int64_t (&extents)[N]) {
#ifdef FAIRLEAD_CHECK_INDICES
  for (std::size_t i = 0; i < N; ++i)
    if (at[i] < 0 || at[i] >= extents[i]) no_such_element(array, at, extents);
#endif
}

/// What data are made of; says what to do with other types.
template <class T>
constexpr bool can_be_element() {
  static_assert(!std::is_const_v<T>, "a datum is something that a task may write: register it without const");
  static_assert(
      std::is_trivially_copyable_v<T>,
      "a datum is copied between memories byte by byte, so its type must be trivially copyable. One "
      "that owns memory, as std::vector or std::string, is registered with Runtime::packable(), and "
      "two functions that make bytes of it and read them back; numbers in a std::vector are also a "
      "Runtime::vector(name, v.data(), v.size())");
  return true;
}
}  // namespace detail

template <bool Const, class T>
using ConstIf = std::conditional_t<Const, const T, T>;

}  // namespace fairlead
