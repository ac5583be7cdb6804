// Data that are computed instead of stored: until a task writes such a datum, its value is made where and
// when a task needs it, and made again rather than written to the disk and read.
#pragma once
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Says how a matrix or a vector that the runtime keeps begins: see generated_by().
template <class Function>
struct GeneratedBy {
  Function function;
};

/// For `Runtime::tiled` and `Runtime::matrix` a function `f(TileView<Element> piece, std::int64_t row,
/// std::int64_t column)`: element (i, j) of the piece becomes element (row + i, column + j) of the matrix.
/// For `Runtime::vector` `f(VectorView<Element> piece, std::int64_t first)`. A piece is a tile, or a part of
/// one on its way to a device.
///
/// Workers of cores call it: for any piece, several at the same time, and again whenever the value is needed
/// and no longer in memory; so it has to give the same every time, and what it captures has to stay as long
/// as the datum. It must not use the runtime. If it throws, the task that needed the piece fails with that.
template <class Function>
GeneratedBy<std::decay_t<Function>> generated_by(Function&& function) {
  return {std::forward<Function>(function)};
}

namespace detail {

/// Fills a rectangle of an array, packed, with what the array has there at first.
using Fill = std::function<void(void* to, std::int64_t row, std::int64_t rows, std::int64_t column,
                                std::int64_t columns)>;

template <class Element>
concept Generatable = 4096 % sizeof(Element) == 0;  // pieces of a datum end between elements

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
