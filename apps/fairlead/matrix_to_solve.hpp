// The matrix of a system that `fairlead solve` is given: how it comes into tiles, and how it is had once more
// to judge the solution. In a file, or made from points.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fairlead/matrix_source.hpp>
#include "algorithms/linalg/symmetric_npy.hpp"
#include "data/npy/npy_file.hpp"
#include "report/run_report.hpp"

namespace fairlead::app {

template <class T>
class MatrixToSolve {
 public:
  virtual ~MatrixToSolve() = default;
  virtual std::int64_t n() const = 0;
  /// What bringing it into tiles is called. Null: the tiles are made when the factorization first needs them.
  virtual const char* phase() const = 0;
  /// Memory that this object keeps, and what bringing the matrix into tiles and reading it from source() take
  /// for each worker.
  virtual Bytes bytes() const { return 0; }
  virtual Bytes tiling_bytes_per_worker() const { return 0; }
  virtual Bytes source_bytes_per_worker() const { return 0; }

  /// The lower triangle, before it is brought there.
  virtual TiledMatrix<T> tiles(Runtime& runtime, std::int32_t tile) const {
    return runtime.tiled<T>("A", n(), n(), tile, Tiles::lower);
  }
  virtual std::uint64_t tasks(const TiledMatrix<T>&, Bytes /*memory*/) const { return 0; }
  /// This object must stay until the flow has been waited for.
  virtual void submit(Flow&, const TiledMatrix<T>&, Bytes /*memory*/) {}
  /// Once the flow has been waited for: throws NumericalError if the matrix cannot be used. It is not brought
  /// into tiles again.
  virtual void end_tiling() {}
  /// The matrix that is in the tiles.
  virtual std::shared_ptr<const linalg::MatrixSource<double>> source() = 0;
  /// It is not read any more for a while: the kernel need not remember it.
  virtual void forget_pages() const {}
  /// What was read of it from outside so far.
  virtual std::optional<report::LinkReport> traffic() const { return std::nullopt; }
};

/// Throws InputError if it is not square.
template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_in_file(std::shared_ptr<const data::NpyFile> file,
                                                 linalg::Stored stored);
/// What --kernel and its options make of points, one in each row. Throws ConfigError, and NumericalError
/// naming the place of what is not finite.
template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_of_points(const Config& config, const data::NpyFile& points);

}  // namespace fairlead::app
