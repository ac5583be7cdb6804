// Matrices in files, and the kernel matrices of points.
#include "solver/matrix_to_solve.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include "algorithms/linalg/general_reader.hpp"
#include "algorithms/linalg/rbf_matrix.hpp"
#include "algorithms/linalg/rounded_matrix.hpp"
#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "algorithms/linalg/symmetric_source.hpp"
#include "algorithms/linalg/triangle_source.hpp"

namespace fairlead::solver {

namespace {

using data::StoredMatrix;

template <class T>
class SymmetricInFile final : public MatrixToSolve<T> {
 public:
  using Wide = WideOf<T>;

  SymmetricInFile(std::shared_ptr<const StoredMatrix> file, linalg::Stored stored, SymmetricKinds kinds)
      : file_(std::move(file)),
        stored_(stored),
        kinds_(kinds),
        reader_(std::make_unique<linalg::SymmetricReader<T>>(file_, stored)) {}

  const char* phase() const override { return "reading"; }
  Bytes tiling_bytes_per_worker() const override {
    return linalg::SymmetricReader<T>::scratch_bytes_per_worker;
  }
  Bytes source_bytes_per_worker() const override { return linalg::source_staging_bytes; }

  TiledMatrix<T> tiles(const GridRank& place, Runtime& runtime, std::int32_t tile) const override {
    const auto n = static_cast<std::int64_t>(file_->rows());
    return place.tiled<T>(runtime, "A", n, n, tile, Tiles::lower);
  }
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory, const linalg::ReadingRanks&) const override {
    return reader_->tasks(tiles, memory);
  }
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory,
              const linalg::ReadingRanks& readers) override {
    reader_->submit(flow, tiles, memory, readers);
  }
  void end_tiling(Runtime& runtime) override {
    reader_->combine_ranks(runtime);
    const double tolerance = linalg::SymmetricReader<T>::tolerance(file_->element(), stored_);
    equals_transpose_ = is_complex_number<T> && stored_ == linalg::Stored::both &&
                        reader_->asymmetry() > tolerance && reader_->difference_from_transpose() <= tolerance;
    if (stored_ == linalg::Stored::both) triangle_ = reader_->nonzero_triangle();
    if (symmetry() == linalg::Symmetry::hermitian) reader_->require_symmetric();
    asymmetry_ = symmetry() == linalg::Symmetry::hermitian ? reader_->asymmetry()
                                                           : reader_->difference_from_transpose();
    reader_.reset();
    forget_pages();
  }
  std::shared_ptr<const linalg::MatrixSource<Wide>> source() override {
    // The values as stored: the residual includes the difference of the triangles.
    if (stored_ == linalg::Stored::both)
      return std::make_shared<linalg::StoredSource<Wide>>(
          file_, linalg::source_staging_bytes,
          asymmetry_ == 0 && !equals_transpose_ ? linalg::Shape::symmetric : linalg::Shape::general);
    return std::make_shared<linalg::SymmetricSource<Wide>>(file_, stored_);
  }
  linalg::Symmetry symmetry() const override {
    return equals_transpose_ && kinds_ == SymmetricKinds::hermitian_or_symmetric
               ? linalg::Symmetry::symmetric
               : linalg::Symmetry::hermitian;
  }
  bool equals_transpose() const override { return equals_transpose_; }
  linalg::Stored triangle() const override { return triangle_; }
  double asymmetry() const override { return stored_ == linalg::Stored::both ? asymmetry_ : 0; }
  void forget_pages() const override { file_->forget_pages(); }
  std::optional<Bytes> bytes_read() const override { return file_->bytes_read(); }

 private:
  std::shared_ptr<const StoredMatrix> file_;
  linalg::Stored stored_;
  SymmetricKinds kinds_;
  bool equals_transpose_ = false;
  linalg::Stored triangle_ = linalg::Stored::both;
  double asymmetry_ = 0;
  std::unique_ptr<linalg::SymmetricReader<T>> reader_;
};

/// All of a symmetric matrix of which one triangle counts, or the mean of both, for methods of general matrices.
template <class Wide>
std::shared_ptr<const StoredMatrix> whole_matrix(const std::shared_ptr<const StoredMatrix>& file,
                                                 linalg::Stored stored) {
  if (stored == linalg::Stored::both) return file;
  return linalg::stored_matrix_of(std::make_shared<linalg::SymmetricSource<Wide>>(file, stored));
}

template <class T>
class GeneralInFile final : public MatrixToSolve<T> {
 public:
  using Wide = WideOf<T>;

  GeneralInFile(std::shared_ptr<const StoredMatrix> file, linalg::Stored stored, bool is_transposed)
      : file_(std::move(file)),
        stored_(stored),
        whole_(whole_matrix<Wide>(file_, stored)),
        reader_(std::make_unique<linalg::GeneralReader<T>>(whole_, is_transposed)) {}

  const char* phase() const override { return "reading"; }
  Bytes tiling_bytes_per_worker() const override {
    return linalg::GeneralReader<T>::scratch_bytes_per_worker +
           (whole_ == file_ ? 0 : linalg::SymmetricSource<Wide>::scratch_bytes);
  }
  Bytes source_bytes_per_worker() const override { return linalg::source_staging_bytes; }

  TiledMatrix<T> tiles(const GridRank& place, Runtime& runtime, std::int32_t tile) const override {
    return place.tiled<T>(runtime, "A", static_cast<std::int64_t>(file_->rows()),
                          static_cast<std::int64_t>(file_->columns()), tile);
  }
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory,
                      const linalg::ReadingRanks& readers) const override {
    return reader_->tasks(tiles, memory, readers.root_reads_all);
  }
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory,
              const linalg::ReadingRanks& readers) override {
    reader_->submit(flow, tiles, memory, readers);
  }
  void end_tiling(Runtime& runtime) override {
    reader_->combine_ranks(runtime);
    largest_ = reader_->largest();
    reader_.reset();
    forget_pages();
  }
  std::shared_ptr<const linalg::MatrixSource<Wide>> source() override {
    if (stored_ != linalg::Stored::both)
      return std::make_shared<linalg::SymmetricSource<Wide>>(file_, stored_);
    return std::make_shared<linalg::StoredSource<Wide>>(file_, linalg::source_staging_bytes,
                                                        linalg::Shape::general);
  }
  double largest() const override { return largest_; }
  void forget_pages() const override { file_->forget_pages(); }
  std::optional<Bytes> bytes_read() const override { return file_->bytes_read(); }

 private:
  std::shared_ptr<const StoredMatrix> file_;
  linalg::Stored stored_;
  std::shared_ptr<const StoredMatrix> whole_;
  double largest_ = 0;
  std::unique_ptr<linalg::GeneralReader<T>> reader_;
};

template <class T>
class TriangularInFile final : public MatrixToSolve<T> {
 public:
  using Wide = WideOf<T>;

  TriangularInFile(std::shared_ptr<const StoredMatrix> file, linalg::Stored triangle, OtherTriangle other)
      : file_(std::move(file)),
        triangle_(triangle),
        other_(other),
        reader_(std::make_unique<linalg::SymmetricReader<T>>(
            file_, other == OtherTriangle::is_zero ? linalg::Stored::both : triangle)) {}

  const char* phase() const override { return "reading"; }
  Bytes tiling_bytes_per_worker() const override {
    return linalg::SymmetricReader<T>::scratch_bytes_per_worker;
  }
  Bytes source_bytes_per_worker() const override { return linalg::source_staging_bytes; }

  TiledMatrix<T> tiles(const GridRank& place, Runtime& runtime, std::int32_t tile) const override {
    const auto n = static_cast<std::int64_t>(file_->rows());
    return place.tiled<T>(runtime, "A", n, n, tile, Tiles::lower);
  }
  std::uint64_t tasks(const TiledMatrix<T>& tiles, Bytes memory, const linalg::ReadingRanks&) const override {
    return reader_->tasks(tiles, memory);
  }
  void submit(Flow& flow, const TiledMatrix<T>& tiles, Bytes memory,
              const linalg::ReadingRanks& readers) override {
    reader_->submit(flow, tiles, memory, readers);
  }
  void end_tiling(Runtime& runtime) override {
    if (other_ == OtherTriangle::is_zero) {
      reader_->combine_ranks(runtime);
      found_ = reader_->nonzero_triangle();
    }
    reader_.reset();
    forget_pages();
    if (other_ == OtherTriangle::is_zero && found_ != triangle_)
      throw NumericalError(
          fmt::format("{} is not triangular: elements on both sides of the diagonal are not zero; --lower or "
                      "--upper takes one triangle, and --method lu solves with the whole matrix",
                      file_->name()));
  }
  std::shared_ptr<const linalg::MatrixSource<Wide>> source() override {
    return std::make_shared<linalg::TriangleSource<Wide>>(
        std::make_shared<linalg::StoredSource<Wide>>(file_, linalg::source_staging_bytes,
                                                     linalg::Shape::general),
        triangle_);
  }
  linalg::Stored triangle() const override { return found_; }
  void forget_pages() const override { file_->forget_pages(); }
  std::optional<Bytes> bytes_read() const override { return file_->bytes_read(); }

 private:
  std::shared_ptr<const StoredMatrix> file_;
  linalg::Stored triangle_, found_ = linalg::Stored::both;
  OtherTriangle other_;
  std::unique_ptr<linalg::SymmetricReader<T>> reader_;
};

template <class T>
class MatrixOfPoints final : public MatrixToSolve<T> {
 public:
  explicit MatrixOfPoints(std::shared_ptr<const linalg::RbfMatrix> kernel) : matrix_(std::move(kernel)) {}

  const char* phase() const override { return nullptr; }
  Bytes bytes() const override { return matrix_->bytes(); }
  Bytes tiling_bytes_per_worker() const override {
    return std::is_same_v<T, double> ? 0 : linalg::RoundedMatrix::scratch_bytes;
  }

  TiledMatrix<T> tiles(const GridRank& place, Runtime& runtime, std::int32_t tile) const override {
    std::shared_ptr<const linalg::MatrixSource<T>> elements;
    if constexpr (std::is_same_v<T, double>)
      elements = matrix_;
    else
      elements = std::make_shared<linalg::RoundedMatrix>(matrix_);
    auto made = linalg::generated_from(std::move(elements));
    const std::int64_t n = matrix_->rows();
    return place.alone()
               ? runtime.tiled<T>("A", n, n, tile, std::move(made), Tiles::lower)
               : runtime.tiled<T>("A", n, n, tile, Distribution(place.grid), std::move(made), Tiles::lower);
  }
  std::shared_ptr<const linalg::MatrixSource<double>> source() override { return matrix_; }

 private:
  std::shared_ptr<const linalg::RbfMatrix> matrix_;
};

}  // namespace

template <class T>
std::unique_ptr<MatrixToSolve<T>> symmetric_matrix(std::shared_ptr<const StoredMatrix> file,
                                                   linalg::Stored stored, SymmetricKinds kinds) {
  if (file->dimensions() != 2 || file->rows() != file->columns())
    throw InputError(fmt::format("{} has the shape {}: solving needs a square matrix", file->name(),
                                 data::shape_text(file->shape())));
  return std::make_unique<SymmetricInFile<T>>(std::move(file), stored, kinds);
}
#define FAIRLEAD_SYMMETRIC_MATRIX_OF(T)                                                               \
  template std::unique_ptr<MatrixToSolve<T>> symmetric_matrix<T>(std::shared_ptr<const StoredMatrix>, \
                                                                 linalg::Stored, SymmetricKinds);
FAIRLEAD_SYMMETRIC_MATRIX_OF(float)
FAIRLEAD_SYMMETRIC_MATRIX_OF(double)
FAIRLEAD_SYMMETRIC_MATRIX_OF(std::complex<float>)
FAIRLEAD_SYMMETRIC_MATRIX_OF(std::complex<double>)
#undef FAIRLEAD_SYMMETRIC_MATRIX_OF

template <class T>
std::unique_ptr<MatrixToSolve<T>> general_matrix(std::shared_ptr<const StoredMatrix> file,
                                                 linalg::Stored stored, bool is_transposed) {
  return std::make_unique<GeneralInFile<T>>(std::move(file), stored, is_transposed);
}
#define FAIRLEAD_GENERAL_MATRIX_OF(T)                                                               \
  template std::unique_ptr<MatrixToSolve<T>> general_matrix<T>(std::shared_ptr<const StoredMatrix>, \
                                                               linalg::Stored, bool);
FAIRLEAD_GENERAL_MATRIX_OF(float)
FAIRLEAD_GENERAL_MATRIX_OF(double)
FAIRLEAD_GENERAL_MATRIX_OF(std::complex<float>)
FAIRLEAD_GENERAL_MATRIX_OF(std::complex<double>)
#undef FAIRLEAD_GENERAL_MATRIX_OF

template <class T>
std::unique_ptr<MatrixToSolve<T>> triangular_matrix(std::shared_ptr<const StoredMatrix> file,
                                                    linalg::Stored triangle, OtherTriangle other) {
  return std::make_unique<TriangularInFile<T>>(std::move(file), triangle, other);
}
#define FAIRLEAD_TRIANGULAR_MATRIX_OF(T)                                                               \
  template std::unique_ptr<MatrixToSolve<T>> triangular_matrix<T>(std::shared_ptr<const StoredMatrix>, \
                                                                  linalg::Stored, OtherTriangle);
FAIRLEAD_TRIANGULAR_MATRIX_OF(float)
FAIRLEAD_TRIANGULAR_MATRIX_OF(double)
FAIRLEAD_TRIANGULAR_MATRIX_OF(std::complex<float>)
FAIRLEAD_TRIANGULAR_MATRIX_OF(std::complex<double>)
#undef FAIRLEAD_TRIANGULAR_MATRIX_OF

template <class T>
std::unique_ptr<MatrixToSolve<T>> matrix_of_points(std::shared_ptr<const linalg::RbfMatrix> kernel) {
  if constexpr (is_complex_number<T>)
    throw UsageError("the matrix of a kernel is real, and the right-hand side complex: solve with its parts");
  else
    return std::make_unique<MatrixOfPoints<T>>(std::move(kernel));
}
template std::unique_ptr<MatrixToSolve<float>> matrix_of_points<float>(
    std::shared_ptr<const linalg::RbfMatrix>);
template std::unique_ptr<MatrixToSolve<double>> matrix_of_points<double>(
    std::shared_ptr<const linalg::RbfMatrix>);
template std::unique_ptr<MatrixToSolve<std::complex<float>>> matrix_of_points<std::complex<float>>(
    std::shared_ptr<const linalg::RbfMatrix>);
template std::unique_ptr<MatrixToSolve<std::complex<double>>> matrix_of_points<std::complex<double>>(
    std::shared_ptr<const linalg::RbfMatrix>);

}  // namespace fairlead::solver
