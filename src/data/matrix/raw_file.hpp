// A matrix in a file without a header: the caller describes the elements.
#pragma once
#include <filesystem>
#include <memory>

#include "data/matrix/element_file.hpp"

namespace fairlead::data {

/// `offset`: of the first element, in bytes. Bytes behind the last element are ignored. Throws InputError naming the
/// file and the problem: missing, unreadable, not a regular file, not a matrix or vector, too short (with the number
/// of missing bytes).
std::shared_ptr<const ElementFile> open_raw_file(const std::filesystem::path& path, const ArrayLayout& layout,
                                                 Bytes offset);

}  // namespace fairlead::data
