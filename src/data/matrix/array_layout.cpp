// See array_layout.hpp.
#include "data/matrix/array_layout.hpp"

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

}  // namespace fairlead::data
