// A part of a tile: the part of a value that is sent to another rank, or stored in a datum.
//
//   ptg::flow("L").from(potrf["T"](k)).part(ptg::Part::lower())
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::ptg {

struct Part {
  enum class Kind : std::uint8_t {
    all,
    lower,  // the lower triangle; for a tile that is not square, a trapezoid
    upper,
    block,
  };
  Kind kind = Kind::all;
  bool diagonal = true;                  ///< for a triangle: includes the diagonal
  std::int32_t first_row = 0, rows = 0;  ///< for a block
  std::int32_t first_column = 0, columns = 0;
  std::int32_t column_step = 1;  ///< every column_step-th column from the first

  static constexpr Part lower(bool with_diagonal = true) noexcept {
    return {.kind = Kind::lower, .diagonal = with_diagonal};
  }
  static constexpr Part upper(bool with_diagonal = true) noexcept {
    return {.kind = Kind::upper, .diagonal = with_diagonal};
  }
  /// A block of rows and columns from (first_row, first_column) on, clipped to the tile.
  static constexpr Part block(std::int32_t first_row, std::int32_t rows, std::int32_t first_column,
                              std::int32_t columns, std::int32_t column_step = 1) noexcept {
    return {.kind = Kind::block,
            .first_row = first_row,
            .rows = rows,
            .first_column = first_column,
            .columns = columns,
            .column_step = column_step < 1 ? 1 : column_step};
  }
  constexpr bool is_all() const noexcept { return kind == Kind::all; }
  friend constexpr bool operator==(const Part&, const Part&) = default;

  /// A range of rows, [first, end).
  struct Rows {
    std::int32_t first = 0, end = 0;
  };
  /// The rows of this part in one column of a tile with `of_rows` rows.
  constexpr Rows rows_of(std::int32_t column, std::int32_t of_rows) const noexcept {
    const std::int32_t off = diagonal ? 0 : 1;
    switch (kind) {
      case Kind::lower:
        return {std::min(column + off, of_rows), of_rows};
      case Kind::upper:
        return {0, std::min(column + 1 - off, of_rows)};
      case Kind::block: {
        const std::int64_t step = column - std::int64_t{first_column};
        const bool inside =
            step >= 0 && step % column_step == 0 && step / column_step < std::int64_t{columns};
        if (!inside) return {};
        const std::int64_t end = std::int64_t{first_row} + rows;
        return {std::min(first_row, of_rows),
                static_cast<std::int32_t>(std::min<std::int64_t>(end, of_rows))};
      }
      default:
        return {0, of_rows};
    }
  }
};

/// The tile that a part belongs to: column-major in memory.
struct PartOf {
  std::int32_t rows = 0, columns = 0;
  std::uint32_t element_bytes = 0;
};

}  // namespace fairlead::ptg
