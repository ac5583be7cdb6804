// Stored matrices as sources of the public interface.
#include <fairlead/matrix_file.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "algorithms/linalg/source_matrix.hpp"
#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "data/matrix/formats.hpp"
#include "data/matrix/memory_matrix.hpp"
#include "data/matrix/raw_file.hpp"

namespace fairlead::linalg {

namespace {

using Source = std::shared_ptr<const MatrixSource<double>>;
using ComplexSource = std::shared_ptr<const MatrixSource<std::complex<double>>>;

/// T: double, or std::complex<double>, for which the elements may be real, too.
template <class T>
std::shared_ptr<const MatrixSource<T>> source_of(std::shared_ptr<const data::StoredMatrix> matrix) {
  if (!is_complex_number<T> && is_complex(matrix->element()))
    throw InputError(matrix->name() + ": holds complex numbers: open it by open_complex_matrix()");
  return std::make_shared<const StoredSource<T>>(std::move(matrix), source_staging_bytes, Shape::general);
}

/// Sizes in a layout: a negative one becomes 0, which is refused.
std::uint64_t size_in_layout(std::int64_t size) noexcept {
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

template <class T>
std::shared_ptr<const MatrixSource<WideOf<T>>> in_memory(const T* elements, std::int64_t rows,
                                                         std::int64_t columns, StorageOrder order,
                                                         std::int64_t leading_dimension, std::string name) {
  if (rows < 1 || columns < 1)
    throw UsageError(fmt::format("{}: a matrix of {} x {} elements has none", name, rows, columns));
  const std::int64_t line = order == StorageOrder::c ? columns : rows;
  const std::int64_t stride = leading_dimension == 0 ? line : leading_dimension;
  if (stride < line)
    throw UsageError(fmt::format("{}: the leading dimension {} is smaller than a {} of {} elements", name,
                                 stride, order == StorageOrder::c ? "row" : "column", line));
  data::ArrayLayout layout{.element = element_type_of<T>,
                           .order = order,
                           .shape = {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)}};
  return source_of<WideOf<T>>(std::make_shared<const data::MemoryMatrix>(
      std::move(name), std::move(layout), reinterpret_cast<const std::byte*>(elements),
      static_cast<std::uint64_t>(stride)));
}

std::shared_ptr<const data::StoredMatrix> raw_matrix(const std::filesystem::path& path,
                                                     const RawMatrix& description) {
  const data::ArrayLayout layout{
      .element = description.element,
      .byte_swapped = description.byte_order != std::endian::native,
      .order = description.order,
      .shape = {size_in_layout(description.rows), size_in_layout(description.columns)}};
  return data::open_raw_file(path, layout, description.offset);
}

}  // namespace

Source open_matrix(const std::string& name) { return source_of<double>(data::open_matrix_file(name)); }
ComplexSource open_complex_matrix(const std::string& name) {
  return source_of<std::complex<double>>(data::open_matrix_file(name));
}

Source open_raw_matrix(const std::filesystem::path& path, const RawMatrix& description) {
  return source_of<double>(raw_matrix(path, description));
}
ComplexSource open_raw_complex_matrix(const std::filesystem::path& path, const RawMatrix& description) {
  return source_of<std::complex<double>>(raw_matrix(path, description));
}

Source matrix_in_memory(const double* elements, std::int64_t rows, std::int64_t columns, StorageOrder order,
                        std::int64_t leading_dimension, std::string name) {
  return in_memory(elements, rows, columns, order, leading_dimension, std::move(name));
}

Source matrix_in_memory(const float* elements, std::int64_t rows, std::int64_t columns, StorageOrder order,
                        std::int64_t leading_dimension, std::string name) {
  return in_memory(elements, rows, columns, order, leading_dimension, std::move(name));
}

ComplexSource matrix_in_memory(const std::complex<double>* elements, std::int64_t rows, std::int64_t columns,
                               StorageOrder order, std::int64_t leading_dimension, std::string name) {
  return in_memory(elements, rows, columns, order, leading_dimension, std::move(name));
}

ComplexSource matrix_in_memory(const std::complex<float>* elements, std::int64_t rows, std::int64_t columns,
                               StorageOrder order, std::int64_t leading_dimension, std::string name) {
  return in_memory(elements, rows, columns, order, leading_dimension, std::move(name));
}

Source widened(std::shared_ptr<const MatrixSource<float>> source) {
  return source_of<double>(std::make_shared<const SourceMatrix<float>>(std::move(source)));
}

ComplexSource widened(std::shared_ptr<const MatrixSource<std::complex<float>>> source) {
  return source_of<std::complex<double>>(
      std::make_shared<const SourceMatrix<std::complex<float>>>(std::move(source)));
}

}  // namespace fairlead::linalg
