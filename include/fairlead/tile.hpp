// The tile type: a rectangular block of a matrix, in column-major order.
#pragma once
#include <fairlead/strided.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead {

struct TileShape {
  std::int32_t rows = 0, columns = 0;
  /// The distance between columns, in elements, if the tile is used in place.
  std::int32_t leading_dimension = 0;
};

/// A body's view of a tile. Element (i, j) is data()[i + j * leading_dimension()]. Element is const if the task only
/// reads. An index out of range is undefined behaviour, unless index checks are enabled: see docs/your-program.md.
template <class Element>
class TileView {
 public:
  TileView(Element* data, std::int32_t rows, std::int32_t columns, std::int32_t leading_dimension) noexcept
      : data_(data), rows_(rows), columns_(columns), leading_dimension_(leading_dimension) {}

  Element* data() const noexcept { return data_; }
  std::int32_t rows() const noexcept { return rows_; }
  std::int32_t columns() const noexcept { return columns_; }
  std::int32_t leading_dimension() const noexcept { return leading_dimension_; }
  [[gnu::always_inline]] Element& operator()(std::int32_t i, std::int32_t j) const {
    detail::check_element("tile", {i, j}, {rows_, columns_});
    return data_[i + static_cast<std::ptrdiff_t>(j) * leading_dimension_];
  }

 private:
  Element* data_;
  std::int32_t rows_, columns_, leading_dimension_;
};

/// The datum's type, as in `In<Tile<double>>`. A matrix registered as one datum is a tile, too.
template <class T>
struct Tile {
  using Element = T;
  using Shape = TileShape;
  template <bool Const>
  using View = TileView<ConstIf<Const, Element>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    return {static_cast<Element*>(address), shape.rows, shape.columns,
            packed ? shape.rows : shape.leading_dimension};
  }
  static Strided strided(const Shape& shape) noexcept {
    return {{shape.rows, shape.columns, 1}, {1, shape.leading_dimension, 0}};
  }
  static Shape shaped(const Strided& strided) noexcept {
    return {static_cast<std::int32_t>(strided.extents[0]), static_cast<std::int32_t>(strided.extents[1]),
            static_cast<std::int32_t>(strided.strides[1])};
  }
};

}  // namespace fairlead
