// How the elements of a matrix are stored in a file or in memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead {

/// With the names of NumPy: an element of complex64 is two 32-bit numbers, the real part first.
enum class ElementType : std::uint8_t { float32, float64, complex64, complex128 };

constexpr bool is_complex(ElementType type) noexcept {
  return type == ElementType::complex64 || type == ElementType::complex128;
}
/// True if its numbers, or their parts, have 32 bits.
constexpr bool is_single(ElementType type) noexcept {
  return type == ElementType::float32 || type == ElementType::complex64;
}
/// The bytes of an element.
constexpr std::size_t bytes_of(ElementType type) noexcept {
  return (is_single(type) ? std::size_t{4} : std::size_t{8}) * (is_complex(type) ? 2 : 1);
}
constexpr ElementType element_type(bool single, bool complex) noexcept {
  if (complex) return single ? ElementType::complex64 : ElementType::complex128;
  return single ? ElementType::float32 : ElementType::float64;
}

/// Which elements are adjacent.
enum class StorageOrder : std::uint8_t {
  c,        ///< the elements of a row (row-major)
  fortran,  ///< the elements of a column (column-major)
};

}  // namespace fairlead
