// Elements are hashes of their position. The hash of a column is computed once per column.
#include "algorithms/linalg/generated_matrix.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace fairlead::linalg {

namespace {

/// Uniform in [-1, 1), from the row and the hash of seed and column. 24 bits: exact in both precisions.
template <class T>
T element(std::uint64_t column_hash, std::int64_t row) noexcept {
  const std::uint64_t z = Random::mix(column_hash + static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u);
  return static_cast<T>(static_cast<std::int32_t>(z >> 40) - (1 << 23)) * static_cast<T>(0x1p-23);
}

std::uint64_t hash_of_column(std::uint64_t seed, std::int64_t column) noexcept {
  return Random::mix(Random::mix(seed) ^ static_cast<std::uint64_t>(column));
}

}  // namespace

template <class T>
void GeneratedSpd<T>::read(std::int64_t row, std::int64_t row_count, std::int64_t column,
                           std::int64_t column_count, T* out, std::int64_t ld) const {
  // An element above the diagonal equals its mirror image below, so its row is the column of the hash.
  for (std::int64_t j = column; j < column + column_count; ++j) {
    T* const values = out + (j - column) * ld - row;
    const std::int64_t end = row + row_count;
    for (std::int64_t i = row; i < std::min(j, end); ++i) values[i] = element<T>(hash_of_column(seed_, i), j);
    const std::uint64_t hash = hash_of_column(seed_, j);
    for (std::int64_t i = std::max(j, row); i < end; ++i)
      values[i] = i == j ? static_cast<T>(diagonal_) : element<T>(hash, i);
  }
}

template <class T>
void GeneratedUniform<T>::read(std::int64_t row, std::int64_t row_count, std::int64_t column,
                               std::int64_t column_count, T* out, std::int64_t ld) const {
  for (std::int64_t j = column; j < column + column_count; ++j) {
    const std::uint64_t hash = hash_of_column(seed_, j);
    for (std::int64_t i = row; i < row + row_count; ++i)
      out[(i - row) + (j - column) * ld] = element<T>(hash, i);
    if (diagonal_ && j >= row && j < row + row_count)
      out[(j - row) + (j - column) * ld] = static_cast<T>(*diagonal_);
  }
}

template class GeneratedSpd<float>;
template class GeneratedSpd<double>;
template class GeneratedUniform<float>;
template class GeneratedUniform<double>;

}  // namespace fairlead::linalg
