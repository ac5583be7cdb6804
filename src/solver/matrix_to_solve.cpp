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
#include "algorithms/linalg/stored_source.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "algorithms/linalg/symmetric_source.hpp"

namespace fairlead::solver {

namespace {

using data::StoredMatrix;

template <class T>
class SymmetricInFile final : public MatrixToSolve<T> {
 public:
  using Wide = WideOf<T>;

  SymmetricInFile(std::shared_ptr<const StoredMatrix> file, linalg::Stored stored)
      : file_(std::move(file)),
        stored_(stored),
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
    reader_->require_symmetric();
    asymmetry_ = reader_->asymmetry();
    reader_.reset();
    forget_pages();
  }
  std::shared_ptr<const linalg::MatrixSource<Wide>> source() override {
    // The values as stored: the residual includes the difference of the triangles.
    if (stored_ == linalg::Stored::both)
      return std::make_shared<linalg::StoredSource<Wide>>(
          file_, linalg::source_staging_bytes,
          asymmetry_ == 0 ? linalg::Shape::symmetric : linalg::Shape::general);
    return std::make_shared<linalg::SymmetricSource<Wide>>(file_, stored_);
  }
  double asymmetry() const override { return stored_ == linalg::Stored::both ? asymmetry_ : 0; }
  void forget_pages() const override { file_->forget_pages(); }
  std::optional<Bytes> bytes_read() const override { return file_->bytes_read(); }

 private:
  std::shared_ptr<const StoredMatrix> file_;
  linalg::Stored stored_;
  double asymmetry_ = 0;
  std::unique_ptr<linalg::SymmetricReader<T>> reader_;
};

template <class T>
class GeneralInFile final : public MatrixToSolve<T> {
 public:
  explicit GeneralInFile(std::shared_ptr<const StoredMatrix> file)
      : file_(std::move(file)), reader_(std::make_unique<linalg::GeneralReader<T>>(file_)) {}

  const char* phase() const override { return "reading"; }
  Bytes tiling_bytes_per_worker() const override {
    return linalg::GeneralReader<T>::scratch_bytes_per_worker;
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
  std::shared_ptr<const linalg::MatrixSource<WideOf<T>>> source() override {
    return std::make_shared<linalg::StoredSource<WideOf<T>>>(file_, linalg::source_staging_bytes,
                                                             linalg::Shape::general);
  }
  double largest() const override { return largest_; }
  void forget_pages() const override { file_->forget_pages(); }
  std::optional<Bytes> bytes_read() const override { return file_->bytes_read(); }

 private:
  std::shared_ptr<const StoredMatrix> file_;
  double largest_ = 0;
  std::unique_ptr<linalg::GeneralReader<T>> reader_;
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
                                                   linalg::Stored stored) {
  if (file->dimensions() != 2 || file->rows() != file->columns())
    throw InputError(fmt::format("{} has the shape {}: solving needs a square matrix", file->name(),
                                 data::shape_text(file->shape())));
  return std::make_unique<SymmetricInFile<T>>(std::move(file), stored);
}
template std::unique_ptr<MatrixToSolve<float>> symmetric_matrix<float>(std::shared_ptr<const StoredMatrix>,
                                                                       linalg::Stored);
template std::unique_ptr<MatrixToSolve<double>> symmetric_matrix<double>(std::shared_ptr<const StoredMatrix>,
                                                                         linalg::Stored);
template std::unique_ptr<MatrixToSolve<std::complex<float>>> symmetric_matrix<std::complex<float>>(
    std::shared_ptr<const StoredMatrix>, linalg::Stored);
template std::unique_ptr<MatrixToSolve<std::complex<double>>> symmetric_matrix<std::complex<double>>(
    std::shared_ptr<const StoredMatrix>, linalg::Stored);

template <class T>
std::unique_ptr<MatrixToSolve<T>> general_matrix(std::shared_ptr<const StoredMatrix> file) {
  return std::make_unique<GeneralInFile<T>>(std::move(file));
}
template std::unique_ptr<MatrixToSolve<float>> general_matrix<float>(std::shared_ptr<const StoredMatrix>);
template std::unique_ptr<MatrixToSolve<double>> general_matrix<double>(std::shared_ptr<const StoredMatrix>);
template std::unique_ptr<MatrixToSolve<std::complex<float>>> general_matrix<std::complex<float>>(
    std::shared_ptr<const StoredMatrix>);
template std::unique_ptr<MatrixToSolve<std::complex<double>>> general_matrix<std::complex<double>>(
    std::shared_ptr<const StoredMatrix>);

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
