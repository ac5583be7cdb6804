// Copies the elements of arrays between data of the same extents, whatever their layouts.
#pragma once
#include <fairlead/block.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <algorithm>

namespace fairlead::ptg::detail {

// No-ops if a view is null: the flow has no datum.

template <class E>
void copy_elements(const TileView<const E>& from, const TileView<E>& to) {
  if (from.data() == nullptr || to.data() == nullptr) return;
  const auto column = [](const auto& tile, std::int32_t j) {
    return tile.data() + static_cast<std::ptrdiff_t>(j) * tile.leading_dimension();
  };
  for (std::int32_t j = 0; j < from.columns(); ++j) std::copy_n(column(from, j), from.rows(), column(to, j));
}
template <class E>
void copy_elements(const VectorView<const E>& from, const VectorView<E>& to) {
  if (from.data() == nullptr || to.data() == nullptr) return;
  for (std::int64_t i = 0; i < from.size(); ++i) to.data()[i * to.stride()] = from.data()[i * from.stride()];
}
template <class E>
void copy_elements(const BlockView<const E>& from, const BlockView<E>& to) {
  if (from.data() == nullptr || to.data() == nullptr) return;
  for (std::int32_t k = 0; k < from.extent(2); ++k)
    for (std::int32_t j = 0; j < from.extent(1); ++j)
      std::copy_n(from.data() + j * from.strides()[0] + k * from.strides()[1], from.extent(0),
                  to.data() + j * to.strides()[0] + k * to.strides()[1]);
}

}  // namespace fairlead::ptg::detail
