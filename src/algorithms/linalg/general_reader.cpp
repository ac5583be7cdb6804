// Reads the matrix in its own order: bands of rows or of columns.
#include "algorithms/linalg/general_reader.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/linalg/collectives.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

namespace {

template <class T, class Tiles>
struct ReadTiles;
template <class T, std::size_t... I>
struct ReadTiles<T, std::index_sequence<I...>> {
  GeneralReader<T>* reader;
  void operator()(Repeat<I, Out<Tile<T>>>... tiles, LineBand piece) const {
    T* const data[] = {tiles.data()...};
    reader->read(piece, data);
  }
};

constexpr std::uint64_t unsigned_of(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

}  // namespace

/// Calls each(piece, index of the line of tiles, first tile along it, number of tiles) for all pieces.
template <class T>
template <class Each>
void GeneralReader<T>::for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, bool first_alone,
                                      Each each) const {
  const std::int64_t tall = tiles.tile_size().rows, wide = tiles.tile_size().columns;
  const std::int64_t side = by_columns_ ? tall : wide, side_across = by_columns_ ? wide : tall;
  // With several ranks adjacent tiles have different owners.
  const Bytes most_tiles = tiles.distribution() == nullptr || first_alone ? most_band_tiles : 1;
  const std::int32_t most = tiles_of_band(memory_bytes, unsigned_of(tall * wide) * sizeof(T), most_tiles);
  const std::int64_t lines = by_columns_ ? tiles.columns() : tiles.rows(),
                     length = by_columns_ ? tiles.rows() : tiles.columns();
  const std::int32_t across_count = by_columns_ ? tiles.tile_columns() : tiles.tile_rows(),
                     along_count = by_columns_ ? tiles.tile_rows() : tiles.tile_columns();
  for (std::int32_t across = 0; across < across_count; ++across)
    for (std::int32_t along = 0; along < along_count;) {
      std::int32_t count = 1;
      while (2 * count <= std::min(most, along_count - along)) count *= 2;
      // The last tile of a column may have fewer rows, and so another leading dimension: it is read alone.
      if (by_columns_ && count > 1 && along + count == along_count && length % side != 0) count /= 2;
      each(LineBand{across * side_across, std::min(side_across, lines - across * side_across), along * side,
                    std::min(count * side, length - along * side), side, side_across},
           across, along, count);
      along += count;
    }
}

template <class T>
std::uint64_t GeneralReader<T>::tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes,
                                      bool first_alone) const {
  std::uint64_t count = 0;
  for_each_piece(tiles, memory_bytes, first_alone,
                 [&](const LineBand&, std::int32_t, std::int32_t, std::int32_t) { ++count; });
  return count;
}

template <class T>
void GeneralReader<T>::submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes,
                              const ReadingRanks& readers) {
  const BandCodelets<T, GeneralReader<T>, ReadTiles> read("read", this);
  ReadBatches batches(readers, memory_bytes / 4);
  for_each_piece(tiles, memory_bytes, readers.root_reads_all,
                 [&](const LineBand& piece, std::int32_t across, std::int32_t along, std::int32_t count) {
                   BandHandles<T> handles;
                   for (std::int32_t i = 0; i < count; ++i)
                     handles[static_cast<std::size_t>(i)] =
                         by_columns_ ? tiles(along + i, across) : tiles(across, along + i);
                   batches.add(unsigned_of(piece.across_count * piece.along_count) * sizeof(T));
                   read.submit(flow, handles, static_cast<std::size_t>(count), piece, readers.root_reads_all);
                 });
}

template <class T>
void GeneralReader<T>::combine_ranks(Runtime& runtime) {
  double all[] = {largest()};
  allreduce_max(runtime, all);
  largest_.store(all[0], std::memory_order_relaxed);
}

template <class T>
void GeneralReader<T>::read(const LineBand& piece, std::span<T* const> tiles) {
  // All tiles of a piece by columns have the same number of rows: a last tile with fewer rows is read alone.
  const std::int64_t high = by_columns_ ? std::min(piece.tile, piece.along_count) : piece.across_count;
  const std::int64_t wide = by_columns_ ? piece.tile_across : piece.tile;
  const data::TileGrid<T> grid{tiles, unsigned_of(high), unsigned_of(wide), unsigned_of(high)};
  {
    const auto lease = staging_.lease();
    if (by_columns_)
      matrix_->template read_tiles<T>(unsigned_of(piece.first_in_line), unsigned_of(piece.along_count),
                                      unsigned_of(piece.first_line), unsigned_of(piece.across_count), grid,
                                      lease.bytes());
    else
      matrix_->template read_tiles<T>(unsigned_of(piece.first_line), unsigned_of(piece.across_count),
                                      unsigned_of(piece.first_in_line), unsigned_of(piece.along_count), grid,
                                      lease.bytes());
  }
  double largest = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::int64_t begin = piece.first_in_line + static_cast<std::int64_t>(i) * piece.tile;
    const std::int64_t count = std::min(piece.tile, piece.first_in_line + piece.along_count - begin);
    largest = std::max(
        largest, by_columns_ ? largest_of(tiles[i], count, piece.across_count, begin, piece.first_line)
                             : largest_of(tiles[i], piece.across_count, count, piece.first_line, begin));
  }
  double before = largest_.load(std::memory_order_relaxed);
  while (before < largest && !largest_.compare_exchange_weak(before, largest, std::memory_order_relaxed))
    continue;
}

template <class T>
double GeneralReader<T>::largest_of(const T* tile, std::int64_t rows, std::int64_t columns,
                                    std::int64_t first_row, std::int64_t first_column) const {
  RealOf<T> largest = 0;  // of complex elements the square root is computed for the candidates only
  double largest_magnitude = 0;
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    if (!is_finite_number(tile[k])) {
      const std::int64_t row = first_row + k % rows, column = first_column + k / rows;
      throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                       matrix_->name(), is_transposed_ ? column : row,
                                       is_transposed_ ? row : column,
                                       is_not_a_number(tile[k]) ? "not a number (NaN)" : "infinite"));
    }
    if constexpr (is_complex_number<T>) {
      // At most the root of two times its larger part.
      const RealOf<T> part = std::max(std::abs(tile[k].real()), std::abs(tile[k].imag()));
      if (part * RealOf<T>(1.42) <= largest) continue;
      largest_magnitude = std::max(largest_magnitude, magnitude(tile[k]));
      largest = static_cast<RealOf<T>>(largest_magnitude);
    } else {
      largest = std::max(largest, std::abs(tile[k]));
    }
  }
  return is_complex_number<T> ? largest_magnitude : static_cast<double>(largest);
}

template class GeneralReader<float>;
template class GeneralReader<double>;
template class GeneralReader<std::complex<float>>;
template class GeneralReader<std::complex<double>>;

}  // namespace fairlead::linalg
