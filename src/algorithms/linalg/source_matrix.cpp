// Reads blocks from a user's source into staging memory: bands of its preferred lines, or square blocks.
#include "algorithms/linalg/source_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"

namespace fairlead::linalg {

namespace {

using data::ArrayLayout;
using data::ElementBlock;
using data::StorageOrder;

template <class T>
ArrayLayout layout_of(const MatrixSource<T>& source) {
  ArrayLayout layout{
      .element =
          element_type(source.element_bytes() == parts_of_number<T> * sizeof(float), is_complex_number<T>),
      .order = source.by_columns() ? StorageOrder::fortran : StorageOrder::c,
      .shape = {static_cast<std::uint64_t>(source.rows()), static_cast<std::uint64_t>(source.columns())}};
  data::require_matrix_shape(source.name(), layout);
  return layout;
}

}  // namespace

template <class T>
SourceMatrix<T>::SourceMatrix(std::shared_ptr<const MatrixSource<T>> source)
    : SourceMatrix(source, layout_of(*source), Transpose::no) {}

template <class T>
SourceMatrix<T>::SourceMatrix(std::shared_ptr<const MatrixSource<T>> source, ArrayLayout layout,
                              Transpose transpose)
    : StoredMatrix(source->name(), std::move(layout)),
      source_(std::move(source)),
      transpose_(transpose),
      by_blocks_(source_->by_blocks()) {}

template <class T>
std::shared_ptr<const data::StoredMatrix> SourceMatrix<T>::transposed() const {
  const Transpose other = transpose_ == Transpose::no ? Transpose::yes : Transpose::no;
  return std::shared_ptr<const SourceMatrix>(new SourceMatrix(source_, transposed_layout(), other));
}

template <class T>
std::shared_ptr<const data::StoredMatrix> SourceMatrix<T>::keeping(Bytes /*bytes*/) const {
  return std::shared_ptr<const SourceMatrix>(new SourceMatrix(source_, layout(), transpose_));
}

template <class T>
void SourceMatrix<T>::read(const ElementBlock& block, std::span<std::byte> staging,
                           data::ElementSink& sink) const {
  auto* const elements = reinterpret_cast<T*>(staging.data());
  const std::uint64_t capacity = staging.size() / sizeof(T);
  // The shape of the blocks: as long as possible along the lines, or square.
  const bool by_rows = order() == StorageOrder::c;
  const std::uint64_t across_count = by_rows ? block.row_count : block.column_count,
                      along_count = by_rows ? block.column_count : block.row_count;
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(capacity)));
  const std::uint64_t least_across = by_blocks_ ? std::min(across_count, side) : 1;
  const std::uint64_t length = std::min(along_count, capacity / least_across),
                      lines = std::min(across_count, capacity / length);
  for (std::uint64_t across = 0; across < across_count; across += lines)
    for (std::uint64_t along = 0; along < along_count; along += length) {
      const std::uint64_t lines_here = std::min(lines, across_count - across),
                          length_here = std::min(length, along_count - along);
      const ElementBlock part = by_rows ? ElementBlock{across, lines_here, along, length_here}
                                        : ElementBlock{along, length_here, across, lines_here};
      auto row = static_cast<std::int64_t>(block.row + part.row),
           column = static_cast<std::int64_t>(block.column + part.column),
           rows = static_cast<std::int64_t>(part.row_count),
           columns = static_cast<std::int64_t>(part.column_count);
      if (transpose_ == Transpose::yes) std::swap(row, column), std::swap(rows, columns);
      source_->read(row, rows, column, columns, elements, rows);
      sink.put(part, {.first = staging.data(),
                      .stride = static_cast<std::uint64_t>(rows),
                      .order = transpose_ == Transpose::yes ? StorageOrder::c : StorageOrder::fortran,
                      .element = element_type_of<T>,
                      .byte_swapped = false});
    }
}

template class SourceMatrix<float>;
template class SourceMatrix<double>;
template class SourceMatrix<std::complex<float>>;
template class SourceMatrix<std::complex<double>>;

namespace {

template <class T>
std::shared_ptr<const data::StoredMatrix> stored_behind(std::shared_ptr<const MatrixSource<T>> source) {
  if (const auto* const stored = dynamic_cast<const StoredSource<T>*>(source.get())) return stored->stored();
  return std::make_shared<const SourceMatrix<T>>(std::move(source));
}

}  // namespace

std::shared_ptr<const data::StoredMatrix> stored_matrix_of(
    std::shared_ptr<const MatrixSource<double>> source) {
  return stored_behind(std::move(source));
}
std::shared_ptr<const data::StoredMatrix> stored_matrix_of(
    std::shared_ptr<const MatrixSource<std::complex<double>>> source) {
  return stored_behind(std::move(source));
}

}  // namespace fairlead::linalg
