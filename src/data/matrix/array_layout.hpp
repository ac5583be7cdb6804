// How the elements of a matrix or vector are stored: type, byte order, storage order, shape.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <fairlead/element_type.hpp>
#include <fairlead/ids.hpp>

namespace fairlead::data {

using fairlead::bytes_of;
using fairlead::ElementType;
using fairlead::StorageOrder;

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

/// Throws InputError if `name` is neither a matrix nor a vector, is empty, or is larger than any file.
void require_matrix_shape(const std::string& name, const ArrayLayout& layout);

}  // namespace fairlead::data
