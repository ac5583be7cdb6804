// Matrices computed from a seed and the position of each element: nothing is stored, and any block can be computed
// independently and repeatedly.
#pragma once
#include <cstdint>
#include <optional>

#include <fairlead/matrix_source.hpp>

namespace fairlead::linalg {

/// A symmetric matrix: elements uniform in [-1, 1), and on the diagonal n, hence diagonally dominant and positive
/// definite, or another number. With 1, about half of the eigenvalues are negative. The same values in both precisions up to rounding.
template <class T>
class GeneratedSpd final : public MatrixSource<T> {
 public:
  GeneratedSpd(std::int64_t n, std::uint64_t seed) : GeneratedSpd(n, seed, static_cast<double>(n)) {}
  GeneratedSpd(std::int64_t n, std::uint64_t seed, double diagonal)
      : n_(n), seed_(seed), diagonal_(diagonal) {}

  std::int64_t rows() const override { return n_; }
  std::int64_t columns() const override { return n_; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override;

 private:
  std::int64_t n_;
  std::uint64_t seed_;
  double diagonal_;
};

/// Elements uniform in [-1, 1): right-hand sides, factors of a product. `diagonal`: the value on the diagonal; the
/// matrix is diagonally dominant if this is at least the number of columns, and then has an LU factorization without
/// pivoting.
template <class T>
class GeneratedUniform final : public MatrixSource<T> {
 public:
  GeneratedUniform(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                   std::optional<double> diagonal = std::nullopt)
      : rows_(rows), columns_(columns), seed_(seed), diagonal_(diagonal) {}

  std::int64_t rows() const override { return rows_; }
  std::int64_t columns() const override { return columns_; }
  void read(std::int64_t row, std::int64_t row_count, std::int64_t column, std::int64_t column_count, T* out,
            std::int64_t ld) const override;

 private:
  std::int64_t rows_, columns_;
  std::uint64_t seed_;
  std::optional<double> diagonal_;
};

extern template class GeneratedSpd<float>;
extern template class GeneratedSpd<double>;
extern template class GeneratedUniform<float>;
extern template class GeneratedUniform<double>;

}  // namespace fairlead::linalg
