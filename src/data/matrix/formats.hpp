// The file formats of matrices. A format is recognized by its content; formats.cpp lists them.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "data/matrix/stored_matrix.hpp"

namespace fairlead::data {

struct MatrixFormat {
  const char* name;  ///< for messages: "is not [...]"
  /// `first_bytes`: of a regular file; empty for a directory.
  bool (*recognizes)(const std::filesystem::path& path, std::string_view first_bytes);
  /// `inside`: which of several matrices; empty if none is given.
  std::shared_ptr<const StoredMatrix> (*open)(const std::filesystem::path& path, const std::string& inside);
};

/// The path in PATH::INSIDE.
std::filesystem::path matrix_path(const std::string& name);

/// Opens a file in any of the formats. `name` is a path, or PATH::INSIDE for one of several matrices in a file. Throws
/// InputError naming the file and the problem.
std::shared_ptr<const StoredMatrix> open_matrix_file(const std::string& name);

}  // namespace fairlead::data
