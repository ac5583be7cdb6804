// The matrix of a system, symmetric or general from a file, or computed from points: how to read it into tiles,
// and how to read it again for the error check.
#pragma once
#include <fairlead/flow.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fairlead/matrix_source.hpp>
#include "algorithms/linalg/rbf_matrix.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "base/scalar.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::solver {

template <class T>
class MatrixToSolve {
 public:
  virtual ~MatrixToSolve() = default;
  /// The name of the phase that reads it into tiles. Null: tiles are computed when the factorization first
  /// needs them.
  virtual const char* phase() const = 0;
  /// Memory of this object, and for each worker that of reading the matrix into tiles and from source().
  virtual Bytes bytes() const { return 0; }
  virtual Bytes tiling_bytes_per_worker() const { return 0; }
  virtual Bytes source_bytes_per_worker() const { return 0; }

  /// All of the matrix, or the lower triangle of a symmetric one, before it is read.
  virtual TiledMatrix<T> tiles(const GridRank& place, Runtime& runtime, std::int32_t tile) const = 0;
  virtual std::uint64_t tasks(const TiledMatrix<T>&, Bytes /*memory*/, const linalg::ReadingRanks&) const {
    return 0;
  }
  /// This object must stay until the flow has been waited for.
  virtual void submit(Flow&, const TiledMatrix<T>&, Bytes /*memory*/, const linalg::ReadingRanks&) {}
  /// Call after the flow's wait: throws NumericalError if the matrix cannot be used. The matrix is not read
  /// into tiles again. All ranks call it, with the same result.
  virtual void end_tiling(Runtime&) {}
  /// The matrix of the system: as stored, unless --lower, --upper or --symmetrize was given. After
  /// end_tiling().
  virtual std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> source() = 0;
  /// The difference of its triangles, of which the tiles have the lower one: SymmetricReader::asymmetry().
  virtual double asymmetry() const { return 0; }
  /// Not read again soon: drops it from the page cache.
  virtual void forget_pages() const {}
  /// Of a symmetric complex matrix, after end_tiling(): whether A = A^H or A = A^T.
  virtual linalg::Symmetry symmetry() const { return linalg::Symmetry::hermitian; }
  /// Whether a complex matrix that is not Hermitian has A = A^T; also after end_tiling() has thrown.
  virtual bool equals_transpose() const { return false; }
  /// The triangle that holds all elements that are not zero, or both; also after end_tiling() has thrown.
  virtual linalg::Stored triangle() const { return linalg::Stored::both; }
  /// The largest absolute value of an element of a general matrix, after end_tiling().
  virtual double largest() const { return 0; }
  /// Bytes read from its file so far; none: it is not in a file.
  virtual std::optional<Bytes> bytes_read() const { return std::nullopt; }
};

/// Which complex matrices are accepted as symmetric ones.
enum class SymmetricKinds : std::uint8_t { hermitian, hermitian_or_symmetric };

/// A symmetric matrix, or a complex one of these kinds. One triangle, or a mean, is that of a Hermitian matrix. Throws
/// InputError if it is not square.
template <class T>
std::unique_ptr<MatrixToSolve<T>> symmetric_matrix(std::shared_ptr<const data::StoredMatrix> file,
                                                   linalg::Stored stored, SymmetricKinds kinds);
/// A matrix of any shape. `is_transposed`: that of the system is its transpose, for messages.
template <class T>
std::unique_ptr<MatrixToSolve<T>> general_matrix(std::shared_ptr<const data::StoredMatrix> file,
                                                 linalg::Stored stored = linalg::Stored::both,
                                                 bool is_transposed = false);
/// Whether the elements on the other side of the diagonal must be zero, or are not read.
enum class OtherTriangle : std::uint8_t { is_zero, is_ignored };

/// A triangular matrix. The tiles have its lower triangle, or the adjoint of its upper one. end_tiling() throws
/// NumericalError if the elements on the other side must be zero and are not.
template <class T>
std::unique_ptr<MatrixToSolve<T>> triangular_matrix(std::shared_ptr<const data::StoredMatrix> file,
                                                    linalg::Stored triangle, OtherTriangle other);
/// A kernel matrix, of real numbers, computed when its tiles are first needed.
template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_of_points(std::shared_ptr<const linalg::RbfMatrix> kernel);

}  // namespace fairlead::solver
