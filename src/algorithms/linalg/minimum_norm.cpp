// A task per tile copies R into one contiguous matrix. Each later task has exclusive access to it, and calls LAPACK.
#include "algorithms/linalg/minimum_norm.hpp"

#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/linalg/collectives.hpp"
#include "base/bytes_text.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

namespace {

constexpr std::int32_t rows_shared_at_once = 1024;

int scale_exponent(double size) noexcept { return size > 0 && std::isfinite(size) ? std::ilogb(size) : 0; }

template <class X>
double largest_size(const X* vector, std::int64_t count) noexcept {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, magnitude(vector[i]));
  return largest;
}

/// Throws FootprintError unless a task with all of R and a tile of A fits into memory. With several ranks, a quarter of
/// the memory, or four tiles, is reserved for values in transfer.
template <class T>
void require_room_for_r(const Runtime& runtime, const TiledMatrix<T>& a) {
  const auto n = static_cast<Bytes>(a.columns()), side = static_cast<Bytes>(a.tile());
  using Triangle = TruncatedTriangle<WideOf<T>>;
  const Bytes whole = whole_pages_for(n * static_cast<Bytes>(Triangle::columns_needed(a.columns())) *
                                      sizeof(WideOf<T>)),
              tile = whole_pages_for(side * side * sizeof(T)), room = runtime.capacity_bytes();
  const bool alone = runtime.ranks() == 1;
  if (whole + tile + (alone ? 0 : std::max(room / 4, 4 * tile)) <= room) return;
  const Bytes needed = alone ? whole + tile : std::max((whole + tile) / 3 * 4, whole + 5 * tile);
  throw FootprintError(
      fmt::format("the columns of the matrix may depend on each other, and deciding its rank takes R, {} x "
                  "{}, in one piece: {} "
                  "in memory, where there is room for {}\n  Use a memory limit that is larger by {}; or, if "
                  "you know that the "
                  "columns are independent, a rank tolerance of 0.",
                  n, n, mebibytes_needed(needed), mebibytes_there(room),
                  mebibytes_needed(needed - std::min(needed, room))));
}

template <class T>
TiledMatrix<WideOf<T>> piece_for(Runtime& runtime, const TiledMatrix<T>& a) {
  require_room_for_r(runtime, a);
  const std::int64_t n = a.columns(), wide = TruncatedTriangle<WideOf<T>>::columns_needed(n);
  return runtime.tiled<WideOf<T>>("R in one piece", n, wide,
                                  TileSize(static_cast<std::int32_t>(n), static_cast<std::int32_t>(wide)));
}

}  // namespace

template <class T>
MinimumNorm<T>::MinimumNorm(Runtime& runtime, Kernels kernels, const TiledMatrix<T>& a, double largest,
                            double tolerance)
    : runtime_(runtime),
      triangle_(std::move(kernels), a.columns(), tolerance),
      a_(a),
      n_(a.columns()),
      exponent_(scale_exponent(largest)),
      whole_(piece_for(runtime, a)) {}

template <class T>
std::uint64_t MinimumNorm<T>::tasks() const noexcept {
  const auto columns = static_cast<std::uint64_t>(a_.tile_columns());
  return columns * (columns + 1) / 2 + 2;
}

template <class T>
template <class Body>
void MinimumNorm<T>::run(Flow& flow, const Wait& wait, const char* name, Body body) {
  const auto task = codelet(name).cpu([body](InOut<Tile<Wide>> whole) { body(whole.data()); });
  flow.submit(task(whole_(0, 0)));
  wait();
}

template <class T>
Spectrum MinimumNorm<T>::decompose(Flow& flow, const Wait& wait) {
  const auto clear =
      codelet("clear R").cpu([n = n_](Out<Tile<Wide>> whole) { std::fill_n(whole.data(), n * n, Wide(0)); });
  const auto copy =
      codelet("copy R").cpu([n = n_, exponent = exponent_](In<Tile<T>> t, InOut<Tile<Wide>> whole,
                                                           std::int64_t row, std::int64_t column) {
        // In two factors: a single one may exceed the range of double.
        const double half = std::scalbn(1.0, -exponent / 2),
                     rest = std::scalbn(1.0, -exponent - -exponent / 2);
        for (std::int32_t j = 0; j < t.columns(); ++j)
          for (std::int32_t i = 0; i < t.rows() && row + i <= column + j; ++i)
            whole.data()[row + i + (column + j) * n] = scalar_cast<Wide>(t(i, j)) * half * rest;
      });
  flow.submit(clear(whole_(0, 0)));
  const std::int64_t side = a_.tile();
  for (std::int32_t j = 0; j < a_.tile_columns(); ++j)
    for (std::int32_t i = 0; i <= j; ++i) flow.submit(copy(a_(i, j), whole_(0, 0), i * side, j * side));
  Spectrum found;
  run(flow, wait, "singular values", [this, &found](Wide* memory) { found = triangle_.reduce(memory); });
  const double own[] = {static_cast<double>(found.rank), found.largest, found.smallest_kept,
                        found.largest_dropped};
  const std::vector<double> all =
      runtime_.ranks() == 1 ? std::vector(std::begin(own), std::end(own)) : gather(runtime_, own);
  return {.rank = static_cast<std::int64_t>(all[0]),
          .largest = std::scalbn(all[1], exponent_),
          .smallest_kept = std::scalbn(all[2], exponent_),
          .largest_dropped = std::scalbn(all[3], exponent_)};
}

template <class T>
void MinimumNorm<T>::solve(Flow& flow, const Wait& wait, T* b, std::int64_t ld, std::int64_t columns,
                           Form form) {
  run(flow, wait, "smallest solution", [=, this](Wide* memory) {
    Wide* const sides = triangle_.sides(memory);
    for (std::int64_t first = 0; first < columns; first += TruncatedTriangle<Wide>::most_sides) {
      const auto count = static_cast<std::int32_t>(
          std::min<std::int64_t>(TruncatedTriangle<Wide>::most_sides, columns - first));
      int exponents[TruncatedTriangle<Wide>::most_sides];
      for (std::int32_t c = 0; c < count; ++c) {
        const T* const from = b + (first + c) * ld;
        exponents[c] = scale_exponent(largest_size(from, n_));
        for (std::int64_t i = 0; i < n_; ++i)
          sides[i + c * n_] = times_power_of_two(scalar_cast<Wide>(from[i]), -exponents[c]);
      }
      triangle_.solve(memory, count, form);
      for (std::int32_t c = 0; c < count; ++c)
        for (std::int64_t i = 0; i < n_; ++i)
          b[i + (first + c) * ld] =
              scalar_cast<T>(times_power_of_two(sides[i + c * n_], exponents[c] - exponent_));
    }
  });
  allgather_bands(runtime_, b, ld, columns, rows_shared_at_once, 1);
}

template <class T>
std::vector<double> MinimumNorm<T>::projected(Flow& flow, const Wait& wait, const Wide* vectors,
                                              std::int64_t ld, std::int64_t columns, Space space) {
  std::vector<double> norms(static_cast<std::size_t>(columns));
  run(flow, wait, "projection", [=, this, &norms](Wide* memory) {
    Wide* const sides = triangle_.sides(memory);
    for (std::int64_t first = 0; first < columns; first += TruncatedTriangle<Wide>::most_sides) {
      const auto count = std::min<std::int64_t>(TruncatedTriangle<Wide>::most_sides, columns - first);
      int exponents[TruncatedTriangle<Wide>::most_sides];
      for (std::int64_t c = 0; c < count; ++c) {
        const Wide* const from = vectors + (first + c) * ld;
        exponents[c] = scale_exponent(largest_size(from, n_));
        for (std::int64_t i = 0; i < n_; ++i)
          sides[i + c * n_] = times_power_of_two(scalar_cast<Wide>(from[i]), -exponents[c]);
      }
      const std::span<double> these{norms.data() + first, static_cast<std::size_t>(count)};
      triangle_.project(memory, these, space);
      for (std::int64_t c = 0; c < count; ++c)
        these[static_cast<std::size_t>(c)] = std::scalbn(these[static_cast<std::size_t>(c)], exponents[c]);
    }
  });
  allgather_bands(runtime_, norms.data(), columns, 1, rows_shared_at_once, 1);
  return norms;
}

template class MinimumNorm<float>;
template class MinimumNorm<double>;
template class MinimumNorm<std::complex<float>>;
template class MinimumNorm<std::complex<double>>;

}  // namespace fairlead::linalg
