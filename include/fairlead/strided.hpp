// The memory layout that all array types share. An array type has a name, a shape (stored in the handle) and a view
// (passed to bodies); tile.hpp, vector.hpp and block.hpp define only these.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace fairlead {

/// The layout of an array of up to three dimensions: element (i, j, k) is data[i * strides[0] + j * strides[1] + k *
/// strides[2]]. Unused dimensions have extent 1.
struct Strided {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  std::array<std::int64_t, 3> strides{1, 0, 0};  ///< in elements

  std::int64_t elements() const noexcept { return extents[0] * extents[1] * extents[2]; }
  std::int64_t offset(const std::array<std::int64_t, 3>& at) const noexcept {
    return at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
  }
  /// The same extents without gaps, first index fastest: the layout of each copy of an array.
  Strided packed() const noexcept { return {extents, {1, extents[0], extents[0] * extents[1]}}; }
};

/// A type of data whose handles store a shape: all but single values. T::view(address, packed, shape) makes the
/// T::View<Const> that bodies get.
template <class T>
concept Shaped = requires {
  typename T::Shape;
};

/// A type of data that is an array. T::strided(shape) converts a shape to a layout, T::shaped(strided) converts it
/// back.
template <class T>
concept Array = Shaped<T> && requires(const typename T::Shape& shape, const Strided& strided) {
  typename T::Element;
  { T::strided(shape) } -> std::same_as<Strided>;
  { T::shaped(strided) } -> std::same_as<typename T::Shape>;
};

namespace detail {
/// Throws UsageError with the index and the extents. `array`: "tile", "vector" or "block".
[[noreturn]] void no_such_element(const char* array, std::span<const std::int64_t> at,
                                  std::span<const std::int64_t> extents);

/// Throws UsageError for an index out of range, if compiled with FAIRLEAD_CHECK_INDICES. Always inlined, as are the
/// operators of the views: each translation unit follows its own setting, whatever the library and other units were
/// compiled with.
template <std::size_t N>
[[gnu::always_inline]] inline void check_element([[maybe_unused]] const char* array,
                                                 [[maybe_unused]] const std::int64_t (&at)[N],
                                                 [[maybe_unused]] const std::int64_t (&extents)[N]) {
#ifdef FAIRLEAD_CHECK_INDICES
  for (std::size_t i = 0; i < N; ++i)
    if (at[i] < 0 || at[i] >= extents[i]) no_such_element(array, at, extents);
#endif
}

/// True if T can be an element of a datum; explains the requirement if not.
template <class T>
constexpr bool can_be_element() {
  static_assert(!std::is_const_v<T>, "tasks may write a datum: register it without const");
  static_assert(std::is_trivially_copyable_v<T>,
                "a datum is copied between memories byte by byte, so its type must be trivially copyable. "
                "Register a type that owns memory, such as std::vector or std::string, with "
                "Runtime::packable() and functions that pack and unpack it; numbers in a std::vector also "
                "with Runtime::vector(name, v.data(), v.size())");
  return true;
}
}  // namespace detail

template <bool Const, class T>
using ConstIf = std::conditional_t<Const, const T, T>;

}  // namespace fairlead
