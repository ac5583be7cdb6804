// Opens matrices by the format of their files.
#include "data/matrix/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fairlead/error.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "data/hdf5/hdf5_dataset.hpp"
#include "data/matrix/regular_file.hpp"
#include "data/npy/npy_file.hpp"
#include "data/zarr/zarr_array.hpp"

namespace fairlead::data {
namespace {

const MatrixFormat* const all_formats[] = {&npy_format, &zarr_format, &hdf5_format};

/// Formats that are recognized only to give advice.
struct ForeignFormat {
  std::string_view first_bytes;
  const char* advice;
};
constexpr ForeignFormat foreign_formats[] = {
    {"PK\x03\x04", "it is a zip archive, as numpy.savez writes it: save a single array with numpy.save"},
    {"\x1f\x8b", "it is compressed by gzip: uncompress it"},
    {"\x28\xb5\x2f\xfd", "it is compressed by zstd: uncompress it"},
    {"MATLAB 5.0 MAT-file",
     "it is a MATLAB file: save it with -v7.3, or convert it with scipy.io.loadmat and numpy.save"},
    {"%%MatrixMarket", "it is a Matrix Market file: convert it with scipy.io.mmread and numpy.save"},
};

/// HDF5 files may have a block of the user in front.
constexpr Bytes head_bytes = 2048 + 8;

std::pair<std::filesystem::path, std::string> path_and_inside(const std::string& name) {
  const auto separator = name.find("::");
  std::error_code ignored;
  if (separator == std::string::npos || std::filesystem::exists(name, ignored)) return {name, ""};
  return {name.substr(0, separator), name.substr(separator + 2)};
}

}  // namespace

std::filesystem::path matrix_path(const std::string& name) { return path_and_inside(name).first; }

std::shared_ptr<const StoredMatrix> open_matrix_file(const std::string& name) {
  const auto [path, inside] = path_and_inside(name);
  std::error_code ignored;
  std::string head;
  if (!std::filesystem::is_directory(path, ignored)) {
    head = RegularFile(path).read_some(0, head_bytes);
    if (head.empty()) throw InputError(fmt::format("{}: is empty (0 bytes), not a matrix", path.string()));
  }
  for (const MatrixFormat* format : all_formats)
    if (format->recognizes(path, head)) return format->open(path, inside);
  if (head.empty()) RegularFile{path};  // states that it is a directory

  std::vector<std::string_view> names;
  for (const MatrixFormat* format : all_formats) names.emplace_back(format->name);
  const auto foreign = std::ranges::find_if(
      foreign_formats, [&](const ForeignFormat& one) { return head.starts_with(one.first_bytes); });
  throw InputError(fmt::format("{}: is not {}; {}", path.string(), fmt::join(names, ", nor "),
                               foreign != std::end(foreign_formats)
                                   ? foreign->advice
                                   : "a raw file needs a description of its elements"));
}

}  // namespace fairlead::data
