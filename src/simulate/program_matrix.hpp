// A tiled matrix of a program: the sizes of its tiles, and their data by row and column.
#pragma once
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

class ProgramMatrix {
 public:
  ProgramMatrix(Program& program, std::string_view name, std::int64_t rows, std::int64_t columns,
                std::int64_t tile, Precision precision, Tiles which = Tiles::all)
      : rows_(rows),
        columns_(columns),
        tile_(tile),
        data_(static_cast<std::size_t>(row_count() * column_count())) {
    const std::int16_t collection = program.collection(name);
    for (std::int32_t i = 0; i < row_count(); ++i)
      for (std::int32_t j = 0; j < (which == Tiles::all ? column_count() : i + 1); ++j)
        data_[place(i, j)] =
            program.datum({.bytes = static_cast<Bytes>(height(i) * width(j)) * element_bytes(precision),
                           .collection = collection,
                           .row = i,
                           .column = j});
    program.tiles = std::max(program.tiles, std::max(row_count(), column_count()));
  }
  std::int32_t row_count() const { return static_cast<std::int32_t>((rows_ + tile_ - 1) / tile_); }
  std::int32_t column_count() const { return static_cast<std::int32_t>((columns_ + tile_ - 1) / tile_); }
  std::int64_t height(std::int32_t i) const { return std::min(tile_, rows_ - i * tile_); }
  std::int64_t width(std::int32_t j) const { return std::min(tile_, columns_ - j * tile_); }
  DatumIndex operator()(std::int32_t i, std::int32_t j) const { return data_[place(i, j)]; }

 private:
  std::size_t place(std::int32_t i, std::int32_t j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(column_count()) +
           static_cast<std::size_t>(j);
  }
  std::int64_t rows_, columns_, tile_;
  std::vector<DatumIndex> data_;
};

}  // namespace fairlead::simulate
