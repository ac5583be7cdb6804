// How the elements of a matrix or vector are stored: type, byte order, storage order, shape.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <fairlead/ids.hpp>

namespace fairlead::data {

enum class ElementType : std::uint8_t { float32, float64 };

constexpr Bytes bytes_of(ElementType type) noexcept { return type == ElementType::float32 ? 4 : 8; }

/// Which elements are adjacent.
enum class StorageOrder : std::uint8_t {
  c,        // the elements of a row
  fortran,  // the elements of a column
};

struct ArrayLayout {
  ElementType element = ElementType::float64;
  bool byte_swapped = false;  ///< the byte order differs from this machine's
  StorageOrder order = StorageOrder::c;
  std::vector<std::uint64_t> shape;

  std::uint64_t elements() const noexcept;
  Bytes data_bytes() const noexcept { return elements() * bytes_of(element); }
};

/// "(3, 4)", in Python's notation.
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace fairlead::data
