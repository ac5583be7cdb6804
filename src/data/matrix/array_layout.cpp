// See array_layout.hpp.
#include "data/matrix/array_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fairlead/error.hpp>

namespace fairlead::data {

std::uint64_t ArrayLayout::elements() const noexcept {
  std::uint64_t product = 1;
  for (const auto dimension : shape) product *= dimension;
  return product;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const auto dimension : shape) text += (text.empty() ? "" : ", ") + std::to_string(dimension);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

void require_matrix_shape(const std::string& name, const ArrayLayout& layout) {
  const std::string shape = shape_text(layout.shape);
  if (layout.shape.empty() || layout.shape.size() > 2)
    throw InputError(fmt::format("{}: has {} dimensions, shape {}; a matrix (2) or a vector (1) is needed",
                                 name, layout.shape.size(), shape));
  if (std::ranges::count(layout.shape, 0u) > 0)
    throw InputError(fmt::format("{}: is empty: its shape is {}", name, shape));
  Bytes bytes = bytes_of(layout.element);
  bool too_large = false;
  for (const auto dimension : layout.shape) too_large |= __builtin_mul_overflow(bytes, dimension, &bytes);
  if (too_large || bytes > (Bytes{1} << 62))
    throw InputError(fmt::format("{}: the shape {} is larger than any file", name, shape));
}

}  // namespace fairlead::data
