// Matrices of the C interface: in memory, in a file, computed by a function of the program.
#include "c/matrix.hpp"

#include <fairlead/matrix_file.hpp>

#include <fmt/format.h>

#include <complex>
#include <type_traits>
#include <utility>

#include "algorithms/linalg/stored_source.hpp"
#include "base/scalar.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "data/matrix/formats.hpp"

namespace fairlead::c {

StorageOrder order_of(fairlead_order order) {
  if (order == FAIRLEAD_ROW_MAJOR) return StorageOrder::c;
  if (order == FAIRLEAD_COLUMN_MAJOR) return StorageOrder::fortran;
  throw UsageError(fmt::format("the order is {}, which is none of fairlead_order", static_cast<int>(order)));
}

namespace {

template <class T>
CallSource in_double(SourceOf<T> source) {
  if constexpr (std::is_same_v<T, WideOf<T>>)
    return source;
  else
    return linalg::widened(std::move(source));
}

template <class T>
CallSource computed_by(fairlead_block_function function, void* context, std::int64_t rows,
                       std::int64_t columns, ReadState& state) {
  return in_double<T>(
      linalg::matrix_from<T>(rows, columns,
                             [=, &state](std::int64_t row, std::int64_t row_count, std::int64_t column,
                                         std::int64_t column_count, T* out, std::int64_t ld) {
                               if (state.stop.stop_requested())
                                 throw linalg::CancelledError("the matrix is not needed any more");
                               if (!state.function_failed.load(std::memory_order_relaxed) &&
                                   function(context, row, row_count, column, column_count, out, ld) == 0)
                                 return;
                               state.function_failed.store(true);
                               throw InputError("a block of the matrix could not be computed");
                             }));
}

/// A matrix whose source can serve any number of calls.
template <class T>
fairlead_matrix* matrix_of(SourceOf<T> source) {
  const bool in_single = source->element_bytes() < sizeof(T);
  return new fairlead_matrix{.rows = source->rows(),
                             .columns = source->columns(),
                             .element = number_of(element_type(in_single, is_complex_number<T>)),
                             .source_for = [source](ReadState&) -> CallSource { return source; }};
}

template <class T>
fairlead_matrix* matrix_in(std::shared_ptr<const data::StoredMatrix> file) {
  return matrix_of<T>(std::make_shared<const linalg::StoredSource<T>>(
      std::move(file), linalg::source_staging_bytes, linalg::Shape::general));
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_matrix_from_memory(const void* elements, fairlead_element element,
                                            fairlead_order order, int64_t rows, int64_t columns,
                                            int64_t leading_dimension, fairlead_matrix** matrix) {
  return c::status_of([&] {
    c::required(elements, "elements");
    c::required(matrix, "matrix");
    *matrix = c::with_element(element, [&]<class T>(T) {
      return c::matrix_of<WideOf<T>>(linalg::matrix_in_memory(static_cast<const T*>(elements), rows, columns,
                                                              c::order_of(order), leading_dimension));
    });
  });
}

fairlead_status fairlead_matrix_open(const char* path, fairlead_matrix** matrix) {
  return c::status_of([&] {
    c::required(matrix, "matrix");
    auto file = data::open_matrix_file(c::required(path, "path"));
    *matrix = is_complex(file->element()) ? c::matrix_in<std::complex<double>>(std::move(file))
                                          : c::matrix_in<double>(std::move(file));
  });
}

fairlead_status fairlead_matrix_from_function(fairlead_block_function function, void* context,
                                              fairlead_element element, int64_t rows, int64_t columns,
                                              fairlead_matrix** matrix) {
  return c::status_of([&] {
    c::required(matrix, "matrix");
    c::required(function, "function");
    if (rows < 1 || columns < 1)
      throw UsageError(fmt::format("a matrix of {} x {} has no elements", rows, columns));
    auto source_for = c::with_element(element, [&]<class T>(T) -> decltype(fairlead_matrix::source_for) {
      return [=](c::ReadState& state) { return c::computed_by<T>(function, context, rows, columns, state); };
    });
    *matrix = new fairlead_matrix{rows, columns, element, std::move(source_for)};
  });
}

fairlead_status fairlead_matrix_shape(const fairlead_matrix* matrix, int64_t* rows, int64_t* columns,
                                      fairlead_element* element) {
  return c::status_of([&] {
    const fairlead_matrix& it = *c::required(matrix, "matrix");
    if (rows != nullptr) *rows = it.rows;
    if (columns != nullptr) *columns = it.columns;
    if (element != nullptr) *element = it.element;
  });
}

void fairlead_matrix_free(fairlead_matrix* matrix) { delete matrix; }
