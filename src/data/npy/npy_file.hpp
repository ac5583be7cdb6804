// A matrix or vector in a NumPy .npy file.
#pragma once
#include <filesystem>
#include <memory>

#include "data/matrix/element_file.hpp"
#include "data/matrix/formats.hpp"
#include "data/npy/npy_header.hpp"

namespace fairlead::data {

class NpyFile final : public ElementFile {
 public:
  /// Opens the file and reads the header. Throws InputError naming the file and the problem: missing, unreadable, not
  /// a regular file, the errors of npy_header.hpp, truncated (with the number of missing bytes), no elements, neither
  /// 1 nor 2 dimensions.
  explicit NpyFile(const std::filesystem::path& path);

 private:
  explicit NpyFile(const std::shared_ptr<const RegularFile>& file);
  NpyFile(const std::shared_ptr<const RegularFile>& file, const NpyHeader& header);
};

extern const MatrixFormat npy_format;

}  // namespace fairlead::data
