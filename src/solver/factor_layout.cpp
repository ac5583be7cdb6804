// See factor_layout.hpp. The shapes are those that RowPivots, SymmetricPivots, IncrementalPivots and QrReflectors register.
#include "solver/factor_layout.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace fairlead::solver {

namespace {

constexpr std::uint64_t key_of_datum(FactorPart part, std::int64_t i, std::int64_t k) noexcept {
  return static_cast<std::uint64_t>(part) << 60 | static_cast<std::uint64_t>(i) << 30 |
         static_cast<std::uint64_t>(k);
}

std::string_view text_of_part(FactorPart part) noexcept {
  switch (part) {
    case FactorPart::matrix:
      return "tile";
    case FactorPart::row_exchanges:
      return "the row exchanges of panel";
    case FactorPart::lower:
      return "the additional part of L of tile";
    case FactorPart::pair_exchanges:
      return "the row exchanges of tile";
    case FactorPart::reflectors:
      return "the reflectors of tile";
    case FactorPart::triangular_factors:
      return "the triangular factors of tile";
    case FactorPart::joined_factors:
      return "the joined triangular factors of tile";
    case FactorPart::symmetric_exchanges:
      return "the symmetric exchanges of panel";
    case FactorPart::band_exchanges:
      return "the row exchanges of the band matrix in block";
    case FactorPart::band_diagonal:
    case FactorPart::band_below:
    case FactorPart::band_right:
    case FactorPart::band_second_right:
      return "the factors of the band matrix in block";
  }
  return "datum";
}

/// Calls add(part, i, k, rows, columns, element bytes) for all data in the order of the file.
template <class Add>
void list_factor_data(const FactorShape& shape, const Add& add) {
  const std::int64_t tile = shape.tile;
  const auto rows_of = [&](std::int64_t i) { return std::min(tile, shape.rows - i * tile); };
  const auto columns_of = [&](std::int64_t k) { return std::min(tile, shape.columns - k * tile); };
  const std::size_t element = shape.element_bytes();
  constexpr std::size_t index = sizeof(std::int32_t);
  const DenseOperation& by = *shape.operation;
  const std::int64_t block = shape.inner_block;
  for (std::int64_t k = 0; k < shape.tile_columns(); ++k) {
    const std::int64_t columns = columns_of(k);
    for (std::int64_t i = by.tiles == Tiles::lower ? k : 0; i < shape.tile_rows(); ++i) {
      add(FactorPart::matrix, i, k, rows_of(i), columns, element);
      if (&by == &pivoted_lu_operation && i == k) add(FactorPart::row_exchanges, k, k, columns, 1, index);
      if (&by == &incremental_lu_operation && i >= k) {
        add(FactorPart::lower, i, k, i == k ? columns : std::min(block, columns), columns, element);
        add(FactorPart::pair_exchanges, i, k, columns, 1, index);
      }
      if (&by == &ldlt_operation && i == k) {
        add(FactorPart::band_diagonal, k, k, columns, columns, element);
        add(FactorPart::band_exchanges, k, k, columns, 1, index);
        if (k + 1 < shape.tile_columns()) {
          add(FactorPart::symmetric_exchanges, k, k, columns_of(k + 1), 1, index);
          add(FactorPart::band_below, k, k, columns_of(k + 1), columns, element);
          add(FactorPart::band_right, k, k, columns, columns_of(k + 1), element);
        }
        if (k + 2 < shape.tile_columns())
          add(FactorPart::band_second_right, k, k, columns, columns_of(k + 2), element);
      }
      if (&by == &qr_operation && i >= k) {
        if (i == k || shape.tree == linalg::QrTree::binary) {
          add(FactorPart::reflectors, i, k, rows_of(i), std::min(rows_of(i), columns), element);
          add(FactorPart::triangular_factors, i, k, std::min(block, columns), columns, element);
        }
        if (i != k) add(FactorPart::joined_factors, i, k, std::min(block, columns), columns, element);
      }
    }
  }
}

}  // namespace

std::string FactorDatum::text() const { return fmt::format("{} ({}, {})", text_of_part(part), i, k); }

FactorLayout::FactorLayout(const FactorShape& shape, Bytes first_offset) : offsets_{first_offset} {
  list_factor_data(
      shape, [this](FactorPart part, std::int64_t i, std::int64_t k, std::int64_t rows, std::int64_t columns,
                    std::size_t bytes) { add(part, i, k, rows, columns, bytes); });
}

void FactorLayout::add(FactorPart part, std::int64_t i, std::int64_t k, std::int64_t rows,
                       std::int64_t columns, std::size_t element_bytes) {
  const FactorDatum datum{part,
                          static_cast<std::int32_t>(i),
                          static_cast<std::int32_t>(k),
                          static_cast<std::int32_t>(rows),
                          static_cast<std::int32_t>(columns),
                          static_cast<std::uint32_t>(element_bytes)};
  index_.emplace(key_of_datum(part, i, k), static_cast<std::uint32_t>(data_.size()));
  data_.push_back(datum);
  offsets_.push_back(offsets_.back() + (datum.bytes() + alignment - 1) / alignment * alignment);
}

std::uint64_t FactorLayout::count(const FactorShape& shape) noexcept {
  const auto rows = static_cast<std::uint64_t>(shape.tile_rows()),
             columns = static_cast<std::uint64_t>(shape.tile_columns());
  const DenseOperation& by = *shape.operation;
  const std::uint64_t below = rows * columns - columns * (columns - 1) / 2;  // on and below the diagonal
  std::uint64_t all = by.tiles == Tiles::lower ? below : rows * columns;
  if (&by == &pivoted_lu_operation) all += columns;
  if (&by == &ldlt_operation)
    all += 2 * columns + (columns > 1 ? 3 * (columns - 1) : 0) + (columns > 2 ? columns - 2 : 0);
  if (&by == &incremental_lu_operation) all += 2 * below;
  if (&by == &qr_operation)
    all += 2 * (shape.tree == linalg::QrTree::binary ? below : columns) + below - columns;
  return all;
}

std::size_t FactorLayout::index(FactorPart part, std::int32_t i, std::int32_t k) const {
  const auto found = index_.find(key_of_datum(part, i, k));
  if (found == index_.end())
    throw UsageError(fmt::format("these factors have no {} ({}, {})", text_of_part(part), i, k));
  return found->second;
}

}  // namespace fairlead::solver
