// Where a program would have its tiles live on a node's devices, for policies that ask: PaRSEC's maps inside a node
// (2025, section 3).
#pragma once
#include <fairlead/cyclic_map.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/place_hint.hpp>

#include <cstdint>
#include <string_view>

namespace fairlead::simulate {

enum class Advice : std::uint8_t {
  none,
  cyclic,       // two-dimensional: rows and columns of tiles, over the squarest grid of the devices
  cyclic_rows,  // one-dimensional: rows of tiles
  matrix_rows,  // as the paper's formula has that: by rows of the whole matrix, whichever a rank has
};

/// "none", "cyclic", "cyclic-rows" or "cyclic-matrix-rows"; all else is none.
constexpr Advice advice_in(std::string_view text) noexcept {
  if (text == "cyclic") return Advice::cyclic;
  if (text == "cyclic-rows") return Advice::cyclic_rows;
  return text == "cyclic-matrix-rows" ? Advice::matrix_rows : Advice::none;
}

/// The device of a tile; `ranks`: over which its matrix is dealt out, so that rows and columns count which are there.
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
