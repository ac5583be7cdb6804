// Generated data: data that are computed instead of stored. Until a task writes such a datum, a generator computes its
// value where a task needs it; after eviction it is computed again instead of written to disk and read.
#pragma once
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace fairlead {

/// The initial content of a matrix or vector that the runtime stores: see generated_by().
template <class Function>
struct GeneratedBy {
  Function function;
};

/// Makes a generator. For `Runtime::tiled` and `Runtime::matrix` it is a function `f(TileView<Element> piece,
/// std::int64_t row, std::int64_t column)`, which sets element (i, j) of the piece to element (row + i, column + j) of
/// the matrix. For `Runtime::vector` it is `f(VectorView<Element> piece, std::int64_t first)`. A piece is a tile, or a
/// chunk of a tile in transfer to a device.
///
/// CPU workers call the function, for any piece, several at the same time, and again each time that the value is needed
/// but not in memory. So it must be deterministic and thread-safe, its captures must outlive the datum, and it must not
/// use the runtime. If it throws, the task that needed the piece fails with that exception.
template <class Function>
GeneratedBy<std::decay_t<Function>> generated_by(Function&& function) {
  return {std::forward<Function>(function)};
}

namespace detail {

/// Writes the initial content of a rectangle of an array to packed memory.
using Fill = std::function<void(void* to, std::int64_t row, std::int64_t rows, std::int64_t column,
                                std::int64_t columns)>;

template <class Element>
concept Generatable = 4096 % sizeof(Element) == 0;  // so that chunks of a datum end between elements

template <Generatable Element, class Function>
requires std::invocable<const Function&, TileView<Element>, std::int64_t, std::int64_t> Fill
fill_of_matrix(GeneratedBy<Function> by) {
  return [f = std::move(by.function)](void* to, std::int64_t row, std::int64_t rows, std::int64_t column,
                                      std::int64_t columns) {
    const auto height = static_cast<std::int32_t>(rows);
    f(TileView<Element>(static_cast<Element*>(to), height, static_cast<std::int32_t>(columns), height), row,
      column);
  };
}
template <Generatable Element, class Function>
requires std::invocable<const Function&, VectorView<Element>, std::int64_t> Fill
fill_of_vector(GeneratedBy<Function> by) {
  return [f = std::move(by.function)](void* to, std::int64_t first, std::int64_t size, std::int64_t,
                                      std::int64_t) {
    f(VectorView<Element>(static_cast<Element*>(to), size), first);
  };
}

}  // namespace detail
}  // namespace fairlead
