// Reads a symmetric matrix, or a complex Hermitian one, that is stored somewhere into the tiles of its lower triangle, and
// checks every element: numbers that are not finite and asymmetry are detected before any computation. Below, the mirror
// image of a complex element is its conjugate, so the diagonal of a Hermitian matrix is real.
//
// The matrix is read in its own order in bands: each task reads several tiles of a row (in Fortran order of a column), so
// that a piece has lines of about 64 KiB. A second pass reads the upper triangle in the same way and compares it with
// the tiles. If the tiles are rounded, one pass reads both triangles in squares. In total the matrix is read once;
// of a stored triangle, only that half. An upper triangle is the lower triangle of the transposed matrix, which is the
// same file in the other order.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/stored.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/linalg/band_codelets.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "base/scalar.hpp"
#include "data/matrix/stored_matrix.hpp"

namespace fairlead::linalg {

template <class T>
class SymmetricReader {
 public:
  /// Throws InputError if the matrix is not square.
  explicit SymmetricReader(std::shared_ptr<const data::StoredMatrix> matrix, Stored stored = Stored::both);

  static constexpr std::size_t scratch_bytes_per_worker = std::size_t{2} << 20;
  /// The largest accepted difference of a[i, j] and the mirror image of a[j, i], relative to the larger of the two, or to
  /// sqrt(| a[i, i] a[j, j] |) if that is larger: rounding errors of products X^T X whose sums cancel have this size. The
  /// latter is limited to `max_diagonal_ratio` times the smaller of the two diagonal elements, as one very large diagonal
  /// element does not explain a difference. For a mean the tolerance is half of the digits.
  static double tolerance(data::ElementType element, Stored stored = Stored::both) noexcept;
  static constexpr double max_diagonal_ratio = 1024;

  /// Submits the tasks; each reads at most a quarter of `memory_bytes`, or one tile. The object must stay valid until
  /// the flow has been waited for. A task that reads a NaN or an infinity fails with a NumericalError that names its
  /// position.
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes, const ReadingRanks& readers = {});
  /// Combines the results of all ranks, after the flow has been waited for.
  void combine_ranks(Runtime& runtime);
  /// The number of tasks of submit().
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes) const;
  /// Call it after the flow has been waited for. Throws NumericalError naming the position of the largest difference
  /// between the triangles, if it exceeds `tolerance`.
  void require_symmetric() const;
  /// The largest difference of the triangles, relative as for `tolerance`, after the flow has been waited for. 0:
  /// bitwise symmetric.
  double asymmetry() const;
  /// Of a complex matrix of which both triangles are read: the same for the elements themselves, without conjugates: of
  /// A - A^T. A value above `tolerance` is that of the first such element that was found.
  double difference_from_transpose() const;
  /// Of a matrix of which both triangles are read: lower if all elements above the diagonal are zero, upper if all below
  /// it are, otherwise both. After the flow has been waited for; of one rank.
  Stored nonzero_triangle() const;

  // Called by the tasks.

  using Piece = LineBand;
  void read_lower(const Piece& piece, std::span<T* const> tiles);
  void read_both(const Piece& piece, std::span<T* const> tiles);
  /// Element is const T, or T if the tiles receive the mean.
  template <class Element>
  void compare_upper(const Piece& piece, std::span<Element* const> tiles);

 private:
  using Wide = WideOf<T>;
  struct Difference {
    double relative = 0;
    std::int64_t row = 0, column = 0;  // in the upper triangle
    Wide upper = 0, lower = 0;
  };
  template <class Each>
  void for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, Each each) const;
  [[noreturn]] void not_finite(std::int64_t row, std::int64_t column, T value) const;
  /// Checks a tile; with Stored::mean, a tile on the diagonal receives the mean of its halves.
  void check_tile(T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
                  std::int64_t first_column);
  /// The worst differences in a piece, and where its elements are.
  struct Differences {
    Difference from_image{};
    double from_transpose = 0;
    bool is_above = false, is_below = false;  // an element that is not zero is on that side of the diagonal
    template <class Element>
    void note(Element above, Element below) noexcept {
      is_above |= above != Element(0);
      is_below |= below != Element(0);
    }
  };
  /// Updates the worst differences by an element and one whose mirror image it should be. The numbers are finite.
  void compare(Differences& worst, std::int64_t row, std::int64_t column, Wide upper, Wide lower);
  double relative_difference(std::int64_t row, std::int64_t column, Wide a, Wide b);
  /// The absolute values of two diagonal elements. The diagonal is read when it is first needed.
  std::pair<double, double> diagonal_of(std::int64_t row, std::int64_t column);
  void merge(const Differences& differences);

  std::shared_ptr<const data::StoredMatrix> matrix_;
  Stored stored_;
  bool by_columns_;
  bool rounded_;  // the tiles have fewer digits than the stored matrix
  double tolerance_;
  double least_size_;  // the smallest normal number of the stored type
  ScratchPool scratch_;
  std::mutex diagonal_mutex_;  // held while the diagonal is read
  std::vector<double> diagonal_;
  // set when the diagonal is complete; it is constant afterwards
  std::atomic<const double*> diagonal_read_ = nullptr;
  mutable std::mutex mutex_;  // guards worst_
  Differences worst_;
};

extern template class SymmetricReader<float>;
extern template class SymmetricReader<double>;
extern template class SymmetricReader<std::complex<float>>;
extern template class SymmetricReader<std::complex<double>>;

}  // namespace fairlead::linalg
