// Reads a symmetric matrix from an .npy file into the tiles of its lower triangle, and looks at every element
// of the file on the way: numbers that are not finite and a matrix that is not symmetric are found before any
// computing is done with them.
//
// The file is read along its own order in bands: each task takes a row of several tiles (in Fortran order a
// column), so that a piece has lines of 64 KiB or so. A second pass reads the upper triangle likewise and
// compares it with the tiles. Where the tiles are rounded, one pass reads both triangles in squares. The file
// is read once in all; of a stored triangle, that half. An upper triangle is the lower one of the transposed
// matrix, which is the same file in the other order.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/linalg/band_codelets.hpp"
#include "algorithms/linalg/scratch_pool.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::linalg {

/// What a file has of a symmetric matrix.
enum class Stored : std::uint8_t {
  both,   // triangles, alike but for some roundings: the lower one is used
  mean,   // both, and less alike: their mean is used
  lower,  // the lower triangle; what is above it is not looked at
  upper,  // the upper triangle
};

template <class T>
class SymmetricNpy {
 public:
  /// Throws InputError if the matrix is not square.
  explicit SymmetricNpy(std::shared_ptr<const data::NpyFile> file, Stored stored = Stored::both);

  static constexpr std::size_t scratch_bytes_per_worker = std::size_t{2} << 20;
  /// How far a[i, j] and a[j, i] may be apart: relative to the larger of them, or to sqrt(| a[i, i] a[j, j] |),
  /// as products X^T X are off whose sums cancel, if that is not above `most_graded` times the smaller of the
  /// two elements on the diagonal. Beside one much larger diagonal element, rounding excuses nothing. For a mean
  /// it is half of the digits.
  static double tolerance(data::ElementType element, Stored stored = Stored::both) noexcept;
  static constexpr double most_graded = 1024;

  /// Submits the tasks; no task takes more than a quarter of `memory_bytes`, if one tile is not more. This
  /// object must stay until the flow has been waited for. A NaN or an infinity makes a task fail with a
  /// NumericalError that names its place.
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory_bytes, const NpyReaders& readers = {});
  /// Over ranks, once the flow has been waited for: what all of these have found.
  void bring_together(Runtime& runtime);
  /// How many tasks that is.
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory_bytes) const;
  /// Once the flow has been waited for: throws NumericalError naming the place where the two triangles differ
  /// most, if they differ more than `tolerance`.
  void require_symmetric() const;
  /// Likewise: by how much they differ where they differ most, in the sense of `tolerance`. 0: not in a bit.
  double asymmetry() const;

  // For the tasks.

  using Piece = NpyPiece;
  void read_lower(const Piece& piece, std::span<T* const> tiles);
  void read_both(const Piece& piece, std::span<T* const> tiles);
  /// Element is const T, or T where the tiles become the mean.
  template <class Element>
  void compare_upper(const Piece& piece, std::span<Element* const> tiles);

 private:
  struct Difference {
    double relative = 0;
    std::int64_t row = 0, column = 0;  // in the upper triangle
    double upper = 0, lower = 0;
  };
  template <class Each>
  void for_each_piece(const TiledMatrix<T>& tiles, Bytes memory_bytes, Each each) const;
  [[noreturn]] void not_finite(std::int64_t row, std::int64_t column, T value) const;
  /// Of a tile on the diagonal, the mean of its halves is left there if that is asked for.
  void check_tile(T* tile, std::int64_t rows, std::int64_t columns, std::int64_t first_row,
                  std::int64_t first_column);
  /// Makes it the worst if it is. Finite numbers.
  void compare(Difference& worst, std::int64_t row, std::int64_t column, double upper, double lower);
  /// Absolute values; the diagonal is read from the file when the first pair of elements needs it.
  std::pair<double, double> diagonal_of(std::int64_t row, std::int64_t column);
  void merge(const Difference& difference);

  std::shared_ptr<const data::NpyFile> file_;
  Stored stored_;
  bool by_columns_;
  bool rounded_;  // the tiles have fewer digits than the file
  double tolerance_;
  double least_size_;  // of a normal number in the file
  ScratchPool scratch_;
  std::mutex diagonal_mutex_;  // held while the diagonal is read
  std::vector<double> diagonal_;
  std::atomic<const double*> diagonal_read_ = nullptr;  // then the diagonal does not change any more
  mutable std::mutex mutex_;                            // guards worst_
  Difference worst_;
};

extern template class SymmetricNpy<float>;
extern template class SymmetricNpy<double>;

}  // namespace fairlead::linalg
