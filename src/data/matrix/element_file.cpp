// Reads a block of the matrix, independently of the file's order: the file consists of *lines* (rows in C order,
// columns in Fortran order), and a block is a range of elements *along* each of several lines. Rectangles of the block
// are read into the staging memory and passed on from there.
#include "data/matrix/element_file.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::data {
namespace {

/// A gap between the ranges of neighbouring lines is read too if it has at most this many bytes and is not longer
/// than a range: that is cheaper than another request.
constexpr Bytes gap_worth_reading = 32 * 1024;

}  // namespace

ElementFile::ElementFile(std::string name, std::shared_ptr<const RegularFile> file, ArrayLayout layout,
                         Bytes data_offset)
    : StoredMatrix(std::move(name), std::move(layout)), file_(std::move(file)), data_offset_(data_offset) {}

const std::byte* ElementFile::kept(std::uint64_t first, std::uint64_t lines, std::uint64_t stride,
                                   std::uint64_t along) const {
  const Bytes size = bytes_of(element());
  if (!kept_ || (first + (lines - 1) * stride + along) * size > kept_->size()) return nullptr;
  // The check of a solution finds out whether it still solves what is in the file.
  if (file_->changed()) return nullptr;
  for (std::uint64_t line = 0; line < lines; ++line) kept_->at((first + line * stride) * size, along * size);
  return kept_->at(first * size, 0);
}

std::shared_ptr<const StoredMatrix> ElementFile::keeping(Bytes bytes) const {
  const auto other = std::make_shared<ElementFile>(name(), file_, layout(), data_offset_);
  other->kept_ = std::make_shared<KeptBytes>(
      std::min(bytes, data_bytes()),
      [file = file_, offset = data_offset_](Bytes begin, std::span<std::byte> into) {
        file->read(offset + begin, into);
      });
  return other;
}

std::shared_ptr<const StoredMatrix> ElementFile::transposed() const {
  const auto other = std::make_shared<ElementFile>(name(), file_, transposed_layout(), data_offset_);
  other->kept_ = kept_;
  return other;
}

void ElementFile::read(const ElementBlock& block, std::span<std::byte> staging, ElementSink& sink) const {
  const Bytes size = bytes_of(element());
  const std::uint64_t capacity = staging.size() / size;  // elements
  const bool by_rows = order() == StorageOrder::c;
  const auto line_length = by_rows ? columns() : rows();
  const auto first_line = by_rows ? block.row : block.column,
             lines = by_rows ? block.row_count : block.column_count;
  const auto first_along = by_rows ? block.column : block.row,
             along = by_rows ? block.column_count : block.row_count;
  const auto read = [&](std::uint64_t line, std::uint64_t at, std::uint64_t elements, std::uint64_t to) {
    const Bytes offset = data_offset_ + ((first_line + line) * line_length + first_along + at) * size;
    file_->read(offset, staging.subspan(to * size, elements * size));
  };
  const auto deliver_from = [&](const std::byte* elements, std::uint64_t line, std::uint64_t line_count,
                                std::uint64_t at, std::uint64_t length, std::uint64_t stride) {
    sink.put(
        by_rows ? ElementBlock{line, line_count, at, length} : ElementBlock{at, length, line, line_count},
        {elements, stride, order(), element(), layout().byte_swapped});
  };
  const auto deliver = [&](std::uint64_t line, std::uint64_t line_count, std::uint64_t at,
                           std::uint64_t length, std::uint64_t stride) {
    deliver_from(staging.data(), line, line_count, at, length, stride);
  };
  if (const std::byte* const elements =
          kept(first_line * line_length + first_along, lines, line_length, along))
    return deliver_from(elements, 0, lines, 0, along, line_length);

  if (along > capacity) {  // not even the range of one line fits
    for (std::uint64_t line = 0; line < lines; ++line)
      for (std::uint64_t at = 0; at < along; at += capacity) {
        const auto length = std::min(capacity, along - at);
        read(line, at, length, 0);
        deliver(line, 1, at, length, length);
      }
    return;
  }
  const bool read_gaps = (line_length - along) * size <= gap_worth_reading && line_length - along <= along;
  const auto stride = read_gaps ? line_length : along;
  const auto at_once = 1 + (capacity - along) / stride;
  for (std::uint64_t line = 0; line < lines; line += at_once) {
    const auto count = std::min(at_once, lines - line);
    if (read_gaps) {
      read(line, 0, (count - 1) * stride + along, 0);
    } else {
      for (std::uint64_t i = 0; i < count; ++i) read(line + i, 0, along, i * stride);
    }
    deliver(line, count, 0, along, stride);
  }
}

}  // namespace fairlead::data
