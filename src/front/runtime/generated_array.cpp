// Splits a range of bytes into rectangles of a column-major array: the end of a column, whole columns, the start of a
// column.
#include "front/runtime/generated_array.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/exception_text.hpp"
#include "front/runtime/read_only_data.hpp"

namespace fairlead::front {

void GeneratedArray::make(std::byte* to, Bytes first, Bytes bytes) const try {
  const auto& [row, rows, column, columns, element_bytes] = place_;
  const Bytes column_bytes = static_cast<Bytes>(rows) * element_bytes;
  while (bytes != 0) {
    const auto passed = static_cast<std::int64_t>(first / column_bytes);
    if (passed >= columns) {  // padding of a tile
      std::memset(to, 0, bytes);
      return;
    }
    const Bytes within = first % column_bytes;
    const bool whole = within == 0 && bytes >= column_bytes;
    const Bytes left = static_cast<Bytes>(columns - passed) * column_bytes - within;
    const Bytes now =
        whole ? std::min(left, bytes / column_bytes * column_bytes) : std::min(bytes, column_bytes - within);
    fill_(to, row + static_cast<std::int64_t>(within / element_bytes),
          whole ? rows : static_cast<std::int64_t>(now / element_bytes), column + passed,
          whole ? static_cast<std::int64_t>(now / column_bytes) : 1);
    to += now;
    first += now;
    bytes -= now;
  }
} catch (const std::exception& error) {
  // An error of stored data names the file and the place in it.
  if (is_read_only(fill_)) throw;
  std::throw_with_nested(TaskError("the generator of " + datum_.text() + " threw: " + exception_text(error)));
} catch (...) {
  std::throw_with_nested(
      TaskError("the generator of " + datum_.text() + " threw something that is not a std::exception"));
}

}  // namespace fairlead::front
