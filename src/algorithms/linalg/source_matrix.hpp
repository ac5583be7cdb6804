// A user's matrix source, read as a stored matrix; and the stored matrix behind a source.
#pragma once
#include <fairlead/matrix_source.hpp>

#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::linalg {

/// T: the type in which the source returns its elements: float, double, or a complex number of these.
template <class T>
class SourceMatrix final : public data::StoredMatrix {
 public:
  /// Throws InputError if the source has no elements.
  explicit SourceMatrix(std::shared_ptr<const MatrixSource<T>> source);

  std::shared_ptr<const StoredMatrix> transposed() const override;
  std::shared_ptr<const StoredMatrix> keeping(Bytes bytes) const override;
  bool by_blocks() const noexcept override { return by_blocks_; }

 protected:
  void read(const data::ElementBlock& block, std::span<std::byte> staging,
            data::ElementSink& sink) const override;

 private:
  enum class Transpose : bool { no, yes };
  SourceMatrix(std::shared_ptr<const MatrixSource<T>> source, data::ArrayLayout layout, Transpose transpose);

  std::shared_ptr<const MatrixSource<T>> source_;
  Transpose transpose_ = Transpose::no;
  bool by_blocks_;
};

extern template class SourceMatrix<float>;
extern template class SourceMatrix<double>;
extern template class SourceMatrix<std::complex<float>>;
extern template class SourceMatrix<std::complex<double>>;

/// A pointer to an object that the caller keeps.
template <class T>
std::shared_ptr<const T> not_owned(const T& object) {
  return std::shared_ptr<const T>(std::shared_ptr<void>(), &object);
}

/// The source as a stored matrix: the one behind it, if it was made from a file or from memory; it is then read in its
/// own type and order.
std::shared_ptr<const data::StoredMatrix> stored_matrix_of(
    std::shared_ptr<const MatrixSource<double>> source);
std::shared_ptr<const data::StoredMatrix> stored_matrix_of(
    std::shared_ptr<const MatrixSource<std::complex<double>>> source);

}  // namespace fairlead::linalg
