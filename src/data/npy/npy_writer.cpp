// Writes Fortran order without staging: column by column, or all at once if the columns are whole and adjacent. C
// order is transposed in the staging memory.
#include "data/npy/npy_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fairlead/error.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/scalar.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::data {
namespace {

NpyHeader checked(const std::filesystem::path& path, ElementType element, StorageOrder order,
                  std::vector<std::uint64_t> shape) {
  if (shape.empty() || shape.size() > 2 || std::ranges::count(shape, 0u) > 0)
    throw UsageError(fmt::format("{}: an array of the shape {} cannot be written; a matrix or a vector can",
                                 path.string(), shape_text(shape)));
  NpyHeader header;
  header.element = element;
  header.order = order;
  header.data_offset = make_npy_header(element, order, shape).size();
  header.shape = std::move(shape);
  return header;
}

}  // namespace

NpyWriter::NpyWriter(const std::filesystem::path& path, ElementType element, StorageOrder order,
                     std::vector<std::uint64_t> shape)
    : header_(checked(path, element, order, std::move(shape))),
      file_(path, header_.data_offset + header_.data_bytes()) {
  const auto text = make_npy_header(element, order, header_.shape);
  file_.write(0, std::as_bytes(std::span(text)));
}

template <class T>
void NpyWriter::write_block(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                            std::uint64_t column_count, const T* in, std::uint64_t ld,
                            std::span<std::byte> staging) {
  const auto rows = header_.shape[0];
  if (header_.element != element_type_of<T>)
    throw UsageError(
        fmt::format("{}: the elements given are of another type than those of the file", path().string()));
  if (row > rows || row_count > rows - row || column > columns() || column_count > columns() - column)
    throw UsageError(fmt::format("{}: the {} x {} elements from ({}, {}) on are not inside of the matrix, {}",
                                 path().string(), row_count, column_count, row, column,
                                 shape_text(header_.shape)));
  const auto offset = [&](std::uint64_t element) { return header_.data_offset + element * sizeof(T); };

  if (header_.order == StorageOrder::fortran || columns() == 1) {
    if (row_count == rows && ld == rows) {
      file_.write(offset(column * rows), std::as_bytes(std::span(in, rows * column_count)));
    } else {
      for (std::uint64_t j = 0; j < column_count; ++j)
        file_.write(offset((column + j) * rows + row), std::as_bytes(std::span(in + j * ld, row_count)));
    }
  } else {
    std::unique_ptr<std::byte[]> own;
    if (staging.size() < sizeof(T)) {
      own = std::make_unique_for_overwrite<std::byte[]>(NpyFile::staging_bytes);
      staging = {own.get(), NpyFile::staging_bytes};
    }
    // Whole rows are written in batches that fit in the staging memory; parts of rows one by one, split if necessary.
    const auto capacity = staging.size() / sizeof(T);
    const bool whole_rows = column_count == columns() && column_count <= capacity;
    const auto rows_at_once = whole_rows ? capacity / column_count : 1;
    const auto columns_at_once = std::min<std::uint64_t>(column_count, capacity);
    for (std::uint64_t i = 0; i < row_count; i += rows_at_once)
      for (std::uint64_t j = 0; j < column_count; j += columns_at_once) {
        const auto i_end = std::min(i + rows_at_once, row_count),
                   j_end = std::min(j + columns_at_once, column_count);
        std::byte* to = staging.data();
        for (auto a = i; a < i_end; ++a)
          for (auto b = j; b < j_end; ++b, to += sizeof(T)) std::memcpy(to, in + a + b * ld, sizeof(T));
        file_.write(offset((row + i) * columns() + column + j),
                    staging.first(static_cast<std::size_t>(to - staging.data())));
      }
  }
  written_.fetch_add(row_count * column_count);
}

void NpyWriter::commit() {
  if (written_.load() != header_.elements())
    throw UsageError(fmt::format("{}: {} of {} elements have been written; a part is not committed",
                                 path().string(), written_.load(), header_.elements()));
  file_.commit();
}

template void NpyWriter::write_block<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                            const float*, std::uint64_t, std::span<std::byte>);
template void NpyWriter::write_block<double>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                             const double*, std::uint64_t, std::span<std::byte>);
template void NpyWriter::write_block<std::complex<float>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                          std::uint64_t, const std::complex<float>*,
                                                          std::uint64_t, std::span<std::byte>);
template void NpyWriter::write_block<std::complex<double>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                           std::uint64_t, const std::complex<double>*,
                                                           std::uint64_t, std::span<std::byte>);

}  // namespace fairlead::data
