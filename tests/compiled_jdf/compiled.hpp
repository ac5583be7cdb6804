// Matrices for compiled task graphs, in the runtime's memory or the caller's, with conversion from and to
// plain numbers.
#pragma once
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace fairlead::compiled_jdf {

/// In plain memory, in column-major order.
template <class T>
struct Plain {
  std::int64_t rows, columns;
  std::vector<T> numbers = std::vector<T>(static_cast<std::size_t>(rows * columns));

  T& operator()(std::int64_t i, std::int64_t j) { return numbers[static_cast<std::size_t>(i + j * rows)]; }
  T operator()(std::int64_t i, std::int64_t j) const {
    return numbers[static_cast<std::size_t>(i + j * rows)];
  }
};

/// Random numbers from -1 to 1; `diagonal` is added to the diagonal.
template <class T>
Plain<T> random_matrix(std::int64_t rows, std::int64_t columns, unsigned seed, T diagonal = 0) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> number(-1, 1);
  Plain<T> out{rows, columns};
  for (T& it : out.numbers) it = number(random);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out(i, i) += diagonal;
  return out;
}

/// Location of a matrix.
enum class Home { runtime, caller };

/// A matrix of the runtime with these numbers, its descriptor, and the conversion back.
template <class T>
class Described {
 public:
  Described(Runtime& runtime, const Plain<T>& from, std::int32_t tile, Home home)
      : runtime_(runtime),
        distance_(from.rows + 3),
        memory_(static_cast<std::size_t>(distance_ * from.columns)),
        matrix_(home == Home::caller
                    ? runtime.tiled_in_place<T>("A", memory_.data(), from.rows, from.columns, distance_, tile)
                    : runtime.tiled<T>("A", from.rows, from.columns, tile)),
        descriptor_(matrix_) {
    const auto put = codelet("put").cpu([&from](Out<Tile<T>> t, std::int64_t row, std::int64_t column) {
      for (std::int32_t j = 0; j < t.columns(); ++j)
        for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = from(row + i, column + j);
    });
    each_tile(put);
  }
  parsec::Descriptor& descriptor() { return descriptor_; }

  Plain<T> numbers() {
    Plain<T> out{matrix_.rows(), matrix_.columns()};
    const auto get = codelet("get").cpu([&out](In<Tile<T>> t, std::int64_t row, std::int64_t column) {
      for (std::int32_t j = 0; j < t.columns(); ++j)
        for (std::int32_t i = 0; i < t.rows(); ++i) out(row + i, column + j) = t(i, j);
    });
    each_tile(get);
    return out;
  }

 private:
  template <class C>
  void each_tile(const C& of) {
    Flow flow(runtime_);
    const std::int64_t tile = matrix_.tile();
    for (std::int32_t j = 0; j < matrix_.tile_columns(); ++j)
      for (std::int32_t i = 0; i < matrix_.tile_rows(); ++i)
        flow.submit(of(matrix_(i, j), i * tile, j * tile));
    flow.wait();
  }

  Runtime& runtime_;
  std::int64_t distance_;
  std::vector<T> memory_;
  TiledMatrix<T> matrix_;
  parsec::Descriptor descriptor_;
};

}  // namespace fairlead::compiled_jdf
