// A tile: a rectangular piece of a matrix in column-major order, as a body sees it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead {

/// As the type of a datum: `In<Tile<double>>`.
template <class Element>
struct Tile {};

struct TileShape {
  std::int32_t rows = 0, columns = 0;
  std::int32_t leading_dimension =
      0;  ///< elements from one column to the next, where the tile is used in place
};

/// Element (i, j) is data()[i + j * leading_dimension()]. Element is const where a task only reads.
template <class Element>
class TileView {
 public:
  TileView(Element* data, std::int32_t rows, std::int32_t columns, std::int32_t leading_dimension) noexcept
      : data_(data), rows_(rows), columns_(columns), leading_dimension_(leading_dimension) {}

  Element* data() const noexcept { return data_; }
  std::int32_t rows() const noexcept { return rows_; }
  std::int32_t columns() const noexcept { return columns_; }
  std::int32_t leading_dimension() const noexcept { return leading_dimension_; }
  Element& operator()(std::int32_t i, std::int32_t j) const noexcept {
    return data_[i + static_cast<std::ptrdiff_t>(j) * leading_dimension_];
  }

 private:
  Element* data_;
  std::int32_t rows_, columns_, leading_dimension_;
};

}  // namespace fairlead
