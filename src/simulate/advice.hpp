// The device on which a program advises each tile to be placed, for policies that use advice: PaRSEC's maps inside a
// node (2025, section 3).
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/place_hint.hpp>

#include <cstdint>
#include <string_view>

namespace fairlead::simulate {

enum class Advice : std::uint8_t {
  none,
  cyclic,       // two-dimensional: rows and columns of tiles, over the most square grid of devices
  cyclic_rows,  // one-dimensional: rows of tiles
  matrix_rows,  // the paper's formula: rows of the whole matrix, not of the rank's part
};

/// Parses "none", "cyclic", "cyclic-rows" or "cyclic-matrix-rows"; any other text is invalid.
constexpr Advice advice_in(std::string_view text) noexcept {
  if (text == "cyclic") return Advice::cyclic;
  if (text == "cyclic-rows") return Advice::cyclic_rows;
  return text == "cyclic-matrix-rows" ? Advice::matrix_rows : Advice::none;
}

/// The device of a tile. `ranks`: the distribution of its matrix, so that only the rows and columns of the rank count.
constexpr std::int32_t device_of(Advice advice, std::int32_t devices, std::int32_t row, std::int32_t column,
                                 const CyclicMap& ranks = {}) noexcept {
  if (advice == Advice::none || devices == 0 || row < 0 || column < 0) return no_device;
  if (advice == Advice::matrix_rows) return row % devices;
  CyclicMap map = ranks;
  if (advice == Advice::cyclic_rows) {
    map.device_rows = devices;
    map.device_columns = 1;
  } else {
    const CyclicMap grid = Distribution::grid_of(static_cast<std::uint32_t>(devices));
    map.device_rows = grid.rank_rows;
    map.device_columns = grid.rank_columns;
  }
  return map.device(row, column);
}

}  // namespace fairlead::simulate
