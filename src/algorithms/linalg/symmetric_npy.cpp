// Bands of tiles, and what is looked for in them.
#include "algorithms/linalg/symmetric_npy.hpp"

#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::linalg {

namespace {

constexpr std::size_t half_scratch = std::size_t{1} << 20;

template <class T, class Tiles>
struct ReadLower;
template <class T, std::size_t... I>
struct ReadLower<T, std::index_sequence<I...>> {
  SymmetricNpy<T>* reader;
  void operator()(Same<I, Out<Tile<T>>>... tiles, typename SymmetricNpy<T>::Piece piece) const {
    T* const data[] = {tiles.data()...};
    reader->read_lower(piece, data);
  }
};
// Whether the tiles get the mean is in how they are accessed: In<Tile<T>> has const elements.
template <template <class> class Access, class T, class Tiles>
struct Upper;
template <template <class> class Access, class T, std::size_t... I>
struct Upper<Access, T, std::index_sequence<I...>> {
  SymmetricNpy<T>* reader;
  void operator()(Same<I, Access<Tile<T>>>... tiles, typename SymmetricNpy<T>::Piece piece) const {
    const std::array data{tiles.data()...};
    using Element = std::remove_pointer_t<typename decltype(data)::value_type>;
    reader->template compare_upper<Element>(piece, data);
  }
};
template <class T, class Tiles>
using AverageUpper = Upper<InOut, T, Tiles>;
template <class T, class Tiles>
using CompareUpper = Upper<In, T, Tiles>;

std::uint64_t u(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

}  // namespace

template <class T>
SymmetricNpy<T>::SymmetricNpy(std::shared_ptr<const data::NpyFile> file, Stored stored)
    : file_(stored == Stored::upper && file->dimensions() == 2
                ? std::make_shared<const data::NpyFile>(file->transposed())
                : std::move(file)),
      stored_(stored),
      by_columns_(file_->order() == data::StorageOrder::fortran),
      rounded_(sizeof(T) == sizeof(float) && file_->element() == data::ElementType::float64),
      scratch_(scratch_bytes_per_worker) {
  if (file_->dimensions() != 2 || file_->rows() != file_->columns())
    throw InputError(fmt::format("{} holds an array of shape {}; a square matrix is needed",
                                 file_->path().string(), data::shape_text(file_->header().shape)));
}

template <class T>
double SymmetricNpy<T>::tolerance(data::ElementType element, Stored stored) noexcept {
  const double rounding = element == data::ElementType::float32
                              ? static_cast<double>(std::numeric_limits<float>::epsilon())
                              : std::numeric_limits<double>::epsilon();
  return stored == Stored::mean ? std::sqrt(rounding) : 100 * rounding;
}

/// Calls each(lower, piece, first tile along, tiles along) for all pieces: those of the lower triangle first.
template <class T>
template <class Each>
void SymmetricNpy<T>::for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, Each each) const {
  const std::int64_t n = tiles.rows(), side = tiles.tile();
  const std::int32_t nt = tiles.tile_rows();
  const std::int32_t most = tiles_of_band(memory_bytes, u(side) * u(side) * sizeof(T));
  const bool triangle = stored_ == Stored::lower || stored_ == Stored::upper;
  if (tiles.distribution() != nullptr) {
    // Over ranks a tile belongs to one of them, and is compared at once with its mirror image in the file.
    for (std::int32_t i = 0; i < nt; ++i)
      for (std::int32_t j = 0; j <= i; ++j)
        for (const bool lower : {true, false}) {
          if (!lower && (triangle || (i == j && !rounded_))) continue;
          const std::int32_t across = lower != by_columns_ ? i : j, along = lower != by_columns_ ? j : i;
          const Piece piece{across * side, std::min(side, n - across * side),
                            along * side,  std::min(side, n - along * side),
                            side,          side};
          each(lower, piece, across, along, 1);
        }
    return;
  }
  for (const bool lower : {true, false}) {
    if (triangle && !lower) continue;
    for (std::int32_t across = 0; across < nt; ++across) {
      // Lower and by rows, or upper and by columns: from the begin of the line to the diagonal.
      const bool before = lower != by_columns_;
      const bool diagonal = lower || rounded_;
      const std::int32_t first = before ? 0 : across + (diagonal ? 0 : 1);
      const std::int32_t end = before ? across + (diagonal ? 1 : 0) : nt;
      for (std::int32_t along = first; along < end;) {
        std::int32_t count = 1;
        while (2 * count <= std::min(most, end - along)) count *= 2;
        // In a column of tiles the last may have fewer rows, and so another leading dimension: it goes alone.
        if (by_columns_ && count > 1 && along + count == nt && tiles.rows_of(nt - 1) != side) count /= 2;
        const Piece piece{across * side, std::min(side, n - across * side),
                          along * side,  std::min(count * side, n - along * side),
                          side,          side};
        each(lower, piece, across, along, count);
        along += count;
      }
    }
  }
}

template <class T>
std::uint64_t SymmetricNpy<T>::tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes) const {
  std::uint64_t count = 0;
  for_each_piece(tiles, memory_bytes,
                 [&](bool, const Piece&, std::int32_t, std::int32_t, std::int32_t) { ++count; });
  return count;
}

template <class T>
void SymmetricNpy<T>::submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes,
                             const NpyReaders& readers) {
  const BandCodelets<T, SymmetricNpy<T>, ReadLower> read("read", this);
  const BandCodelets<T, SymmetricNpy<T>, CompareUpper> compare("compare", this);
  const BandCodelets<T, SymmetricNpy<T>, AverageUpper> average("average", this);
  NpyBatches batches(readers, memory_bytes / 4);
  const bool by_first = readers.first_alone;
  for_each_piece(
      tiles, memory_bytes,
      [&](bool lower, const Piece& piece, std::int32_t across, std::int32_t along, std::int32_t count) {
        BandHandles<T> handles;
        for (std::int32_t i = 0; i < count; ++i) {
          // The tile where the element is, or where its mirror image is.
          const auto row = std::max(across, along + i), column = std::min(across, along + i);
          handles[static_cast<std::size_t>(i)] = tiles(row, column);
        }
        const auto tiles_here = static_cast<std::size_t>(count);
        // What is compared has just been read.
        if (lower) batches.more(u(piece.across_count * piece.along_count) * sizeof(T));
        if (lower)
          read.submit(flow, handles, tiles_here, piece, by_first);
        else if (stored_ == Stored::mean)
          average.submit(flow, handles, tiles_here, piece, by_first);
        else
          compare.submit(flow, handles, tiles_here, piece, by_first);
      });
}

template <class T>
void SymmetricNpy<T>::read_lower(const Piece& piece, std::span<T* const> tiles) {
  const auto lease = scratch_.lease();
  if (!by_columns_) {
    file_->template read_tiles<T>(
        u(piece.across), u(piece.across_count), u(piece.along), u(piece.along_count),
        {tiles, u(piece.across_count), u(piece.tile), u(piece.across_count)}, lease.bytes());
  } else {
    const std::int64_t rows = std::min(piece.tile, piece.along_count);
    file_->template read_tiles<T>(u(piece.along), u(piece.along_count), u(piece.across),
                                  u(piece.across_count), {tiles, u(rows), u(piece.tile), u(rows)},
                                  lease.bytes());
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::int64_t begin = piece.along + static_cast<std::int64_t>(i) * piece.tile;
    const std::int64_t count = std::min(piece.tile, piece.along + piece.along_count - begin);
    if (!by_columns_)
      check_tile(tiles[i], piece.across_count, count, piece.across, begin);
    else
      check_tile(tiles[i], count, piece.across_count, begin, piece.across);
  }
}

template <class T>
void SymmetricNpy<T>::check_tile(T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
                                 std::int64_t first_column) {
  const bool diagonal = first_row == first_column;
  if (diagonal && (stored_ == Stored::lower || stored_ == Stored::upper))  // the other half is anything
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < j; ++i) tile[i + j * rows] = tile[j + i * rows];
  T largest = 0;
  bool finite = true;
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    const T size = std::abs(tile[k]);
    finite &= size <= std::numeric_limits<T>::max();  // false for NaN
    largest = std::max(largest, size);
  }
  if (!finite)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        if (!std::isfinite(tile[i + j * rows]))
          not_finite(first_row + i, first_column + j, tile[i + j * rows]);
  Difference worst;
  if (diagonal && !rounded_)  // its two halves
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < j; ++i) {
        const auto upper = static_cast<double>(tile[i + j * rows]),
                   lower = static_cast<double>(tile[j + i * rows]);
        if (std::abs(upper - lower) > worst.size)
          worst = {std::abs(upper - lower), first_row + i, first_column + j, upper, lower};
        if (stored_ == Stored::mean) tile[j + i * rows] = static_cast<T>(upper / 2 + lower / 2);
      }
  merge(static_cast<double>(largest), worst);
}

/// Calls f(first, lines, begin, length) for parts of the piece, each with so many lines of it from the first,
/// and so many places from where they begin, that `room` elements are enough.
template <class Piece, class F>
void for_each_cut(const Piece& piece, std::int64_t room, F&& f) {
  const std::int64_t width = std::min(piece.along_count, room);
  const std::int64_t height = std::min(piece.across_count, room / width);
  for (std::int64_t first = 0; first < piece.across_count; first += height)
    for (std::int64_t begin = 0; begin < piece.along_count; begin += width)
      f(first, std::min(height, piece.across_count - first), begin,
        std::min(width, piece.along_count - begin));
}

template <class T>
template <class Element>
void SymmetricNpy<T>::compare_upper(const Piece& piece, std::span<Element* const> tiles) {
  if (rounded_) return compare_in_file(piece, tiles);
  const auto lease = scratch_.lease();
  T* const lines = lease.template as<T>().data();
  const auto staging = lease.bytes().subspan(half_scratch);
  const auto room = static_cast<std::int64_t>(half_scratch / sizeof(T));
  Difference worst;
  for_each_cut(
      piece, room, [&](std::int64_t first, std::int64_t lines_here, std::int64_t begin, std::int64_t length) {
        const std::int64_t across = piece.across + first, along = piece.along + begin;
        if (by_columns_)
          file_->template read_block<T>(u(along), u(length), u(across), u(lines_here), lines, u(length),
                                        staging);
        else
          file_->template read_block<T>(u(across), u(lines_here), u(along), u(length), lines, u(lines_here),
                                        staging);
        for (std::int64_t y = 0; y < length; ++y) {
          const std::int64_t in_band = begin + y;
          Element* const tile = tiles[static_cast<std::size_t>(in_band / piece.tile)];
          const std::int64_t in_tile = in_band % piece.tile;
          for (std::int64_t x = 0; x < lines_here; ++x) {
            // The mirror image: by rows, the tile has it in row y and column x; by columns the other way
            // round.
            const T upper = by_columns_ ? lines[y + x * length] : lines[x + y * lines_here];
            const std::int64_t tile_begin = in_band - in_tile;
            const std::int64_t rows =
                by_columns_ ? piece.across_count : std::min(piece.tile, piece.along_count - tile_begin);
            Element& lower =
                by_columns_ ? tile[(first + x) + in_tile * rows] : tile[in_tile + (first + x) * rows];
            const std::int64_t row = by_columns_ ? along + y : across + x;
            const std::int64_t column = by_columns_ ? across + x : along + y;
            const double difference = std::abs(static_cast<double>(upper) - static_cast<double>(lower));
            if (!(difference <= worst.size)) {
              if (!std::isfinite(upper)) not_finite(row, column, upper);
              worst = {difference, row, column, static_cast<double>(upper), static_cast<double>(lower)};
            }
            if constexpr (!std::is_const_v<Element>) lower = lower / 2 + upper / 2;
          }
        }
      });
  merge(0, worst);
}

/// The tiles are rounded, and so would be what is found between them: both triangles as the file has them.
template <class T>
template <class Element>
void SymmetricNpy<T>::compare_in_file(const Piece& piece, std::span<Element* const> tiles) {
  const auto lease = scratch_.lease();
  const auto staging = lease.bytes().subspan(half_scratch);
  const auto room = static_cast<std::int64_t>(half_scratch / 2 / sizeof(double));
  double* const there = lease.template as<double>().data();
  double* const mirrored = there + room;
  Difference worst;
  double largest = 0;  // as T it may be 0
  for_each_cut(
      piece, room, [&](std::int64_t first, std::int64_t lines_here, std::int64_t begin, std::int64_t length) {
        const std::int64_t across = piece.across + first, along = piece.along + begin;
        // Line x, place y: one as [x + y * lines_here], the other as [y + x * length].
        double* const upper = by_columns_ ? mirrored : there;
        double* const lower = by_columns_ ? there : mirrored;
        file_->template read_block<double>(u(across), u(lines_here), u(along), u(length), there,
                                           u(lines_here), staging);
        file_->template read_block<double>(u(along), u(length), u(across), u(lines_here), mirrored, u(length),
                                           staging);
        const auto at = [&](const double* block, std::int64_t x, std::int64_t y) {
          return block == there ? block[x + y * lines_here] : block[y + x * length];
        };
        for (std::int64_t y = 0; y < length; ++y) {
          const std::int64_t in_band = begin + y, in_tile = in_band % piece.tile;
          Element* const tile = tiles[static_cast<std::size_t>(in_band / piece.tile)];
          const std::int64_t rows = by_columns_
                                        ? piece.across_count
                                        : std::min(piece.tile, piece.along_count - (in_band - in_tile));
          for (std::int64_t x = 0; x < lines_here; ++x) {
            const std::int64_t row = by_columns_ ? along + y : across + x;
            const std::int64_t column = by_columns_ ? across + x : along + y;
            if (row > column) continue;  // in a tile on the diagonal
            const double above = at(upper, x, y), below = at(lower, x, y);
            const double difference = std::abs(above - below);
            largest = std::max({largest, std::abs(above), std::abs(below)});
            if (!(difference <= worst.size)) {
              if (!std::isfinite(above)) not_finite(row, column, static_cast<T>(above));
              worst = {difference, row, column, above, below};
            }
            if constexpr (!std::is_const_v<Element>)
              (by_columns_ ? tile[(first + x) + in_tile * rows] : tile[in_tile + (first + x) * rows]) =
                  static_cast<T>(below / 2 + above / 2);
          }
        }
      });
  merge(largest, worst);
}

template <class T>
void SymmetricNpy<T>::not_finite(std::int64_t row, std::int64_t column, T value) const {
  if (stored_ == Stored::upper) std::swap(row, column);
  throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                   file_->path().string(), row, column,
                                   std::isnan(value) ? "not a number (NaN)"
                                   : rounded_        ? "infinite, or too large for single precision"
                                                     : "infinite"));
}

template <class T>
void SymmetricNpy<T>::merge(double largest, const Difference& difference) {
  const std::lock_guard guard(mutex_);
  largest_ = std::max(largest_, largest);
  const auto place = [](const Difference& d) { return std::pair(d.row, d.column); };
  if (difference.size > worst_.size || (difference.size == worst_.size && place(difference) < place(worst_)))
    worst_ = difference;
}

template <class T>
void SymmetricNpy<T>::bring_together(Runtime& runtime) {
  if (runtime.ranks() == 1) return;
  const double own[] = {
      largest_,     worst_.size, static_cast<double>(worst_.row), static_cast<double>(worst_.column),
      worst_.upper, worst_.lower};
  const std::vector<double> all = gather(runtime, own);
  for (std::size_t i = 0; i < all.size(); i += std::size(own))
    merge(all[i], {all[i + 1], static_cast<std::int64_t>(all[i + 2]), static_cast<std::int64_t>(all[i + 3]),
                   all[i + 4], all[i + 5]});
}

template <class T>
void SymmetricNpy<T>::require_symmetric() const {
  const std::lock_guard guard(mutex_);
  if (worst_.size <= tolerance(file_->element(), stored_) * largest_) return;
  throw NumericalError(fmt::format(
      "{} is not symmetric: row {}, column {} (counted from 0) is {}, but row {}, column {} is {}; {}",
      file_->path().string(), worst_.row, worst_.column, worst_.upper, worst_.column, worst_.row,
      worst_.lower,
      stored_ == Stored::mean
          ? "that is more than rounding"
          : "--lower or --upper takes one triangle, --symmetrize the mean where rounding is the reason"));
}

template <class T>
bool SymmetricNpy<T>::symmetric() const {
  const std::lock_guard guard(mutex_);
  return worst_.size == 0;
}

template class SymmetricNpy<float>;
template class SymmetricNpy<double>;

}  // namespace fairlead::linalg
