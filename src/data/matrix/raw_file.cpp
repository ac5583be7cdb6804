// See raw_file.hpp.
#include "data/matrix/raw_file.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>

namespace fairlead::data {

std::shared_ptr<const ElementFile> open_raw_file(const std::filesystem::path& path, const ArrayLayout& layout,
                                                 Bytes offset) {
  const auto file = std::make_shared<const RegularFile>(path);
  require_matrix_shape(file->name(), layout);
  Bytes needed = 0;
  if (__builtin_add_overflow(offset, layout.data_bytes(), &needed) || file->bytes() < needed)
    throw InputError(
        fmt::format("{}: is too short: it has {} bytes, and a matrix of shape {} with elements of {} bytes "
                    "from byte {} on needs "
                    "{} ({} are missing)",
                    file->name(), file->bytes(), shape_text(layout.shape), bytes_of(layout.element), offset,
                    needed, needed - file->bytes()));
  return std::make_shared<const ElementFile>(file->name(), file, layout, offset);
}

}  // namespace fairlead::data
