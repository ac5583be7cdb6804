// Reads bands of tiles and checks their symmetry.
#include "algorithms/linalg/symmetric_reader.hpp"

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

constexpr std::size_t staging_bytes = std::size_t{1} << 20;
// Side of the squares that are compared with their mirror images.
constexpr std::int64_t square = 256;

template <class T, class Tiles>
struct ReadLower;
template <class T, std::size_t... I>
struct ReadLower<T, std::index_sequence<I...>> {
  SymmetricReader<T>* reader;
  void operator()(Repeat<I, Out<Tile<T>>>... tiles, typename SymmetricReader<T>::Piece piece) const {
    T* const data[] = {tiles.data()...};
    reader->read_lower(piece, data);
  }
};
// The access mode decides whether the tiles receive the mean.
template <template <class> class Access, class T, class Tiles>
struct Upper;
template <template <class> class Access, class T, std::size_t... I>
struct Upper<Access, T, std::index_sequence<I...>> {
  SymmetricReader<T>* reader;
  void operator()(Repeat<I, Access<Tile<T>>>... tiles, typename SymmetricReader<T>::Piece piece) const {
    const std::array data{tiles.data()...};
    using Element = std::remove_pointer_t<typename decltype(data)::value_type>;
    reader->template compare_upper<Element>(piece, data);
  }
};
template <class T, class Tiles>
struct ReadBoth;
template <class T, std::size_t... I>
struct ReadBoth<T, std::index_sequence<I...>> {
  SymmetricReader<T>* reader;
  void operator()(Repeat<I, Out<Tile<T>>>... tiles, typename SymmetricReader<T>::Piece piece) const {
    T* const data[] = {tiles.data()...};
    reader->read_both(piece, data);
  }
};
template <class T, class Tiles>
using AverageUpper = Upper<InOut, T, Tiles>;
template <class T, class Tiles>
using CompareUpper = Upper<In, T, Tiles>;

std::uint64_t u(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

/// Whether a pair of elements in the triangles is not that of a matrix both Hermitian and symmetric.
template <class T>
bool differ(T upper, T lower) noexcept {
  return !(conjugate(upper) == lower) || (is_complex_number<T> && !(upper == lower));
}

}  // namespace

template <class T>
SymmetricReader<T>::SymmetricReader(std::shared_ptr<const data::StoredMatrix> matrix, Stored stored)
    : matrix_(stored == Stored::upper && matrix->dimensions() == 2 ? matrix->transposed()
                                                                   : std::move(matrix)),
      stored_(stored),
      by_columns_(matrix_->order() == data::StorageOrder::fortran),
      rounded_(std::is_same_v<RealOf<T>, float> && !is_single(matrix_->element())),
      tolerance_(tolerance(matrix_->element(), stored)),
      least_size_(is_single(matrix_->element()) ? static_cast<double>(std::numeric_limits<float>::min())
                                                : std::numeric_limits<double>::min()),
      scratch_(scratch_bytes_per_worker) {
  if (matrix_->dimensions() != 2 || matrix_->rows() != matrix_->columns())
    throw InputError(fmt::format("{} holds an array of shape {}; a square matrix is needed", matrix_->name(),
                                 data::shape_text(matrix_->shape())));
}

template <class T>
double SymmetricReader<T>::tolerance(data::ElementType element, Stored stored) noexcept {
  const double rounding = is_single(element) ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                             : std::numeric_limits<double>::epsilon();
  return stored == Stored::mean ? std::sqrt(rounding) : 100 * rounding;
}

/// Calls each(lower, piece, index of the line of tiles, first tile along it, number of tiles) for all pieces; those of
/// the lower triangle first.
template <class T>
template <class Each>
void SymmetricReader<T>::for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, Each each) const {
  const std::int64_t n = tiles.rows(), side = tiles.tile();
  const std::int32_t nt = tiles.tile_rows();
  const std::int32_t most = tiles_of_band(memory_bytes, u(side) * u(side) * sizeof(T));
  const bool triangle = stored_ == Stored::lower || stored_ == Stored::upper;
  const bool one_pass = triangle || rounded_;
  if (tiles.distribution() != nullptr) {
    // With several ranks each piece is one tile, which has one owner, and is compared immediately with its mirror
    // image.
    for (std::int32_t i = 0; i < nt; ++i)
      for (std::int32_t j = 0; j <= i; ++j)
        for (const bool lower : {true, false}) {
          if (!lower && (one_pass || i == j)) continue;
          const std::int32_t across = lower != by_columns_ ? i : j, along = lower != by_columns_ ? j : i;
          const Piece piece{across * side, std::min(side, n - across * side),
                            along * side,  std::min(side, n - along * side),
                            side,          side};
          each(lower, piece, across, along, 1);
        }
    return;
  }
  for (const bool lower : {true, false}) {
    if (one_pass && !lower) continue;
    for (std::int32_t across = 0; across < nt; ++across) {
      // Lower triangle by rows, or upper by columns: from the start of the line to the diagonal.
      const bool before = lower != by_columns_;
      const std::int32_t first = before ? 0 : across + (lower ? 0 : 1);
      const std::int32_t end = before ? across + (lower ? 1 : 0) : nt;
      for (std::int32_t along = first; along < end;) {
        std::int32_t count = 1;
        while (2 * count <= std::min(most, end - along)) count *= 2;
        // The last tile of a column may have fewer rows, and so another leading dimension: it is read alone.
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
std::uint64_t SymmetricReader<T>::tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes) const {
  std::uint64_t count = 0;
  for_each_piece(tiles, memory_bytes,
                 [&](bool, const Piece&, std::int32_t, std::int32_t, std::int32_t) { ++count; });
  return count;
}

template <class T>
void SymmetricReader<T>::submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes,
                                const ReadingRanks& readers) {
  const BandCodelets<T, SymmetricReader<T>, ReadLower> read("read", this);
  const BandCodelets<T, SymmetricReader<T>, ReadBoth> read_both("read", this);
  const BandCodelets<T, SymmetricReader<T>, CompareUpper> compare("compare", this);
  const BandCodelets<T, SymmetricReader<T>, AverageUpper> average("average", this);
  ReadBatches batches(readers, memory_bytes / 4);
  const bool by_first = readers.root_reads_all;
  for_each_piece(
      tiles, memory_bytes,
      [&](bool lower, const Piece& piece, std::int32_t across, std::int32_t along, std::int32_t count) {
        BandHandles<T> handles;
        for (std::int32_t i = 0; i < count; ++i) {
          // The tile of the element, or of its mirror image.
          const auto row = std::max(across, along + i), column = std::min(across, along + i);
          handles[static_cast<std::size_t>(i)] = tiles(row, column);
        }
        const auto tiles_here = static_cast<std::size_t>(count);
        // A piece of the upper triangle is compared with tiles that have already been counted.
        if (lower) batches.add(u(piece.across_count * piece.along_count) * sizeof(T));
        if (lower && rounded_ && (stored_ == Stored::both || stored_ == Stored::mean))
          read_both.submit(flow, handles, tiles_here, piece, by_first);
        else if (lower)
          read.submit(flow, handles, tiles_here, piece, by_first);
        else if (stored_ == Stored::mean)
          average.submit(flow, handles, tiles_here, piece, by_first);
        else
          compare.submit(flow, handles, tiles_here, piece, by_first);
      });
}

template <class T>
void SymmetricReader<T>::read_lower(const Piece& piece, std::span<T* const> tiles) {
  const auto lease = scratch_.lease();
  if (!by_columns_) {
    matrix_->template read_tiles<T>(
        u(piece.first_line), u(piece.across_count), u(piece.first_in_line), u(piece.along_count),
        {tiles, u(piece.across_count), u(piece.tile), u(piece.across_count)}, lease.bytes());
  } else {
    const std::int64_t rows = std::min(piece.tile, piece.along_count);
    matrix_->template read_tiles<T>(u(piece.first_in_line), u(piece.along_count), u(piece.first_line),
                                    u(piece.across_count), {tiles, u(rows), u(piece.tile), u(rows)},
                                    lease.bytes());
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const std::int64_t begin = piece.first_in_line + static_cast<std::int64_t>(i) * piece.tile;
    const std::int64_t count = std::min(piece.tile, piece.first_in_line + piece.along_count - begin);
    // The lower triangle of the transposed matrix holds the elements above the diagonal.
    if (is_complex_number<T> && stored_ == Stored::upper)
      std::transform(tiles[i], tiles[i] + count * piece.across_count, tiles[i], conjugate<T>);
    if (!by_columns_)
      check_tile(tiles[i], piece.across_count, count, piece.first_line, begin);
    else
      check_tile(tiles[i], count, piece.across_count, begin, piece.first_line);
  }
}

template <class T>
void SymmetricReader<T>::check_tile(T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
                                    std::int64_t first_column) {
  const bool diagonal = first_row == first_column;
  if (diagonal && (stored_ == Stored::lower || stored_ == Stored::upper))  // the other half is unspecified
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < j; ++i) tile[i + j * rows] = conjugate(tile[j + i * rows]);
  bool finite = true;
  const RealOf<T>* const numbers = parts_of(tile);
  for (std::int64_t k = 0; k < parts_of_number<T> * rows * columns; ++k)
    finite &= std::abs(numbers[k]) <= std::numeric_limits<RealOf<T>>::max();  // false for NaN
  if (!finite)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        if (!is_finite_number(tile[i + j * rows]))
          not_finite(first_row + i, first_column + j, tile[i + j * rows]);
  if (!diagonal) return;
  Differences worst;  // between the halves of the tile
  // In squares, whose mirror images fit in a cache.
  constexpr std::int64_t side = 32, diagonal_too = is_complex_number<T> ? 1 : 0;
  for (std::int64_t right = 0; right < columns; right += side)
    for (std::int64_t top = 0; top <= right; top += side)
      for (std::int64_t j = right; j < std::min(right + side, columns); ++j)
        for (std::int64_t i = top; i < std::min(top + side, j + diagonal_too); ++i) {
          T& below = tile[j + i * rows];
          const T above = tile[i + j * rows];
          if (i != j) worst.note(above, below);
          if (differ(above, below))
            compare(worst, first_row + i, first_row + j, scalar_cast<Wide>(above), scalar_cast<Wide>(below));
          if (stored_ == Stored::mean)
            below =
                scalar_cast<T>(scalar_cast<Wide>(below) / 2.0 + conjugate(scalar_cast<Wide>(above)) / 2.0);
        }
  merge(worst);
}

template <class T>
std::pair<double, double> SymmetricReader<T>::diagonal_of(std::int64_t row, std::int64_t column) {
  const double* diagonal = diagonal_read_.load(std::memory_order_acquire);
  if (diagonal == nullptr) {
    const std::lock_guard guard(diagonal_mutex_);
    if (diagonal_.empty()) {
      std::vector<double> all(static_cast<std::size_t>(matrix_->rows()));
      alignas(double) std::array<std::byte, 16> staging;
      for (std::size_t i = 0; i < all.size(); ++i) {
        Wide element = 0;
        matrix_->template read_block<Wide>(i, 1, i, 1, &element, 1, staging);
        all[i] = magnitude(element);
      }
      diagonal_ = std::move(all);
    }
    diagonal = diagonal_.data();
    diagonal_read_.store(diagonal, std::memory_order_release);
  }
  return {diagonal[row], diagonal[column]};
}

template <class T>
double SymmetricReader<T>::relative_difference(std::int64_t row, std::int64_t column, Wide a, Wide b) {
  const auto relative_to = [a, b](double size) {
    const double difference = magnitude(a - b);
    return std::isfinite(difference) ? difference / size : magnitude(a / 2.0 - b / 2.0) / (size / 2);
  };
  // The rounding unit of numbers below the smallest normal number is constant.
  const double own = std::max({magnitude(a), magnitude(b), least_size_});
  double relative = relative_to(own);
  if (relative > tolerance_) {
    const auto [first, second] = diagonal_of(row, column);
    const double from_diagonal =
        std::min(std::sqrt(first) * std::sqrt(second), max_diagonal_ratio * std::min(first, second));
    if (from_diagonal > own) relative = relative_to(from_diagonal);
  }
  return relative;
}

template <class T>
void SymmetricReader<T>::compare(Differences& worst, std::int64_t row, std::int64_t column, Wide upper,
                                 Wide lower) {
  const Wide image = conjugate(lower);
  Difference& so_far = worst.from_image;
  if (upper != image) {
    const double relative = relative_difference(row, column, upper, image);
    const bool is_first = std::pair(row, column) < std::pair(so_far.row, so_far.column);
    if (relative > so_far.relative || (relative == so_far.relative && is_first))
      so_far = {relative, row, column, upper, lower};
  }
  // One element that differs decides.
  if (is_complex_number<T> && worst.from_transpose <= tolerance_ && upper != lower)
    worst.from_transpose = std::max(worst.from_transpose, relative_difference(row, column, upper, lower));
}

template <class T>
template <class Element>
void SymmetricReader<T>::compare_upper(const Piece& piece, std::span<Element* const> tiles) {
  const auto lease = scratch_.lease();
  const auto staging = lease.bytes().first(staging_bytes);
  const std::size_t rest = scratch_bytes_per_worker - staging_bytes;
  using Part = RealOf<T>;
  T* const lines = reinterpret_cast<T*>(lease.bytes().subspan(staging_bytes).data());
  const auto room = static_cast<std::int64_t>(rest / sizeof(T));
  Differences worst;
  for_each_cut(piece, room, matrix_->by_blocks(),
               [&](std::int64_t first, std::int64_t lines_here, std::int64_t begin, std::int64_t length) {
                 const std::int64_t across = piece.first_line + first, along = piece.first_in_line + begin;
                 if (by_columns_)
                   matrix_->template read_block<T>(u(along), u(length), u(across), u(lines_here), lines,
                                                   u(length), staging);
                 else
                   matrix_->template read_block<T>(u(across), u(lines_here), u(along), u(length), lines,
                                                   u(lines_here), staging);
                 for (std::int64_t y = 0; y < length; ++y) {
                   const std::int64_t in_band = begin + y;
                   Element* const tile = tiles[static_cast<std::size_t>(in_band / piece.tile)];
                   const std::int64_t in_tile = in_band % piece.tile;
                   for (std::int64_t x = 0; x < lines_here; ++x) {
                     // The mirror image in the tile is in row y and column x for a file by rows, and vice versa by columns.
                     const T upper = by_columns_ ? lines[y + x * length] : lines[x + y * lines_here];
                     const T image = conjugate(upper);
                     const std::int64_t tile_begin = in_band - in_tile;
                     const std::int64_t rows = by_columns_
                                                   ? piece.across_count
                                                   : std::min(piece.tile, piece.along_count - tile_begin);
                     Element& lower = by_columns_ ? tile[(first + x) + in_tile * rows]
                                                  : tile[in_tile + (first + x) * rows];
                     const std::int64_t row = by_columns_ ? along + y : across + x;
                     const std::int64_t column = by_columns_ ? across + x : along + y;
                     worst.note(upper, T(lower));
                     if (differ(upper, T(lower))) {
                       if (!is_finite_number(upper)) not_finite(row, column, upper);
                       compare(worst, row, column, scalar_cast<Wide>(upper), scalar_cast<Wide>(lower));
                     }
                     if constexpr (!std::is_const_v<Element>) lower = lower / Part(2) + image / Part(2);
                   }
                 }
               });
  merge(worst);
}

/// For tiles that are rounded, which would affect the comparison: reads both triangles from the file, in squares.
template <class T>
void SymmetricReader<T>::read_both(const Piece& piece, std::span<T* const> tiles) {
  const auto lease = scratch_.lease();
  const auto staging = lease.bytes().first(staging_bytes);
  // Square and mirror image share the memory behind the staging.
  const std::int64_t side = is_complex_number<T> ? square / 2 : square;
  auto* const there = reinterpret_cast<Wide*>(lease.bytes().subspan(staging_bytes).data());
  Wide* const mirrored = there + side * side;
  Differences worst;
  for (std::int64_t first = 0; first < piece.across_count; first += side)
    for (std::int64_t begin = 0; begin < piece.along_count; begin += side) {
      const std::int64_t lines = std::min(side, piece.across_count - first),
                         length = std::min(side, piece.along_count - begin);
      const std::int64_t across = piece.first_line + first, along = piece.first_in_line + begin;
      // By rows, line x is row across + x of the lower triangle; by columns it is a column.
      const std::int64_t row = by_columns_ ? along : across, column = by_columns_ ? across : along;
      const std::int64_t rows = by_columns_ ? length : lines, columns = by_columns_ ? lines : length;
      matrix_->template read_block<Wide>(u(row), u(rows), u(column), u(columns), there, u(rows), staging);
      matrix_->template read_block<Wide>(u(column), u(columns), u(row), u(rows), mirrored, u(columns),
                                         staging);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) {
          const Wide below = there[i + j * rows], above = mirrored[j + i * columns];
          // In a tile on the diagonal each pair of mirror images occurs twice: compare it once.
          const bool lower = row + i >= column + j;
          if (!is_finite_number(scalar_cast<T>(below)))
            not_finite(row + i, column + j, scalar_cast<T>(below));
          if (lower && row + i != column + j) worst.note(above, below);
          if (lower && differ(above, below)) {
            if (!is_finite_number(scalar_cast<T>(above)))
              not_finite(column + j, row + i, scalar_cast<T>(above));
            compare(worst, column + j, row + i, above, below);
          }
          const std::int64_t in_band = by_columns_ ? begin + i : begin + j;
          const std::int64_t in_tile = in_band % piece.tile, tile_begin = in_band - in_tile;
          T* const tile = tiles[static_cast<std::size_t>(in_band / piece.tile)];
          const std::int64_t tile_rows =
              by_columns_ ? std::min(piece.tile, piece.along_count - tile_begin) : piece.across_count;
          T& element =
              by_columns_ ? tile[in_tile + (first + j) * tile_rows] : tile[(first + i) + in_tile * tile_rows];
          element = scalar_cast<T>(stored_ == Stored::mean ? below / 2.0 + conjugate(above) / 2.0 : below);
        }
    }
  merge(worst);
}

template <class T>
void SymmetricReader<T>::not_finite(std::int64_t row, std::int64_t column, T value) const {
  if (stored_ == Stored::upper) std::swap(row, column);
  throw NumericalError(fmt::format("{}: the element in row {}, column {} (counted from 0) is {}",
                                   matrix_->name(), row, column,
                                   is_not_a_number(value) ? "not a number (NaN)"
                                   : rounded_             ? "infinite, or too large for single precision"
                                                          : "infinite"));
}

template <class T>
void SymmetricReader<T>::merge(const Differences& differences) {
  const std::lock_guard guard(mutex_);
  const auto place = [](const Difference& d) { return std::pair(d.row, d.column); };
  const Difference& own = differences.from_image;
  Difference& all = worst_.from_image;
  if (own.relative > all.relative || (own.relative == all.relative && place(own) < place(all))) all = own;
  worst_.from_transpose = std::max(worst_.from_transpose, differences.from_transpose);
  worst_.is_above |= differences.is_above;
  worst_.is_below |= differences.is_below;
}

template <class T>
void SymmetricReader<T>::combine_ranks(Runtime& runtime) {
  if (runtime.ranks() == 1) return;
  const Difference& worst = worst_.from_image;
  std::vector<double> own{
      worst.relative,        static_cast<double>(worst.row), static_cast<double>(worst.column),
      worst_.from_transpose, 1.0 * worst_.is_above,          1.0 * worst_.is_below};
  const std::size_t numbers = own.size();
  for (const Wide* element : {&worst.upper, &worst.lower})
    own.insert(own.end(), parts_of(element), parts_of(element) + parts_of_number<T>);
  const std::vector<double> all = gather(runtime, own);
  for (std::size_t i = 0; i < all.size(); i += own.size()) {
    Differences other{{all[i], static_cast<std::int64_t>(all[i + 1]), static_cast<std::int64_t>(all[i + 2])},
                      all[i + 3],
                      all[i + 4] != 0,
                      all[i + 5] != 0};
    std::copy_n(&all[i + numbers], parts_of_number<T>, parts_of(&other.from_image.upper));
    std::copy_n(&all[i + numbers + parts_of_number<T>], parts_of_number<T>,
                parts_of(&other.from_image.lower));
    merge(other);
  }
}

template <class T>
void SymmetricReader<T>::require_symmetric() const {
  const std::lock_guard guard(mutex_);
  const Difference& worst = worst_.from_image;
  if (worst.relative <= tolerance_) return;
  const char* const kind = is_complex_number<T> ? "Hermitian" : "symmetric";
  if (worst.row == worst.column)
    throw NumericalError(fmt::format(
        "{} is not Hermitian: the element on the diagonal in row {} (counted from 0) is {}, which is not "
        "real; {}",
        matrix_->name(), worst.row,
        number_text(stored_ == Stored::upper ? conjugate(worst.lower) : worst.lower),
        stored_ == Stored::both
            ? "--method lu solves with such a matrix"
            : "one triangle, or a mean, is that of a Hermitian matrix, and one with A = A^T needs both"));
  throw NumericalError(fmt::format(
      "{} is not {}: row {}, column {} (counted from 0) is {}, but row {}, column {} is {}; {}",
      matrix_->name(), kind, worst.row, worst.column, number_text(worst.upper), worst.column, worst.row,
      number_text(worst.lower),
      stored_ == Stored::mean
          ? std::string("that is more than rounding")
          : fmt::format("--lower or --upper takes one triangle, --symmetrize the mean where rounding is the "
                        "reason, and --method lu solves with a matrix that is not {}",
                        kind)));
}

template <class T>
double SymmetricReader<T>::asymmetry() const {
  const std::lock_guard guard(mutex_);
  return worst_.from_image.relative;
}

template <class T>
double SymmetricReader<T>::difference_from_transpose() const {
  const std::lock_guard guard(mutex_);
  return worst_.from_transpose;
}

template <class T>
Stored SymmetricReader<T>::nonzero_triangle() const {
  const std::lock_guard guard(mutex_);
  if (!worst_.is_above) return Stored::lower;
  return worst_.is_below ? Stored::both : Stored::upper;
}

template class SymmetricReader<float>;
template class SymmetricReader<double>;
template class SymmetricReader<std::complex<float>>;
template class SymmetricReader<std::complex<double>>;

}  // namespace fairlead::linalg
