// Opens .npy files. All that can be wrong with a file is detected here, before any work starts.
#include "data/npy/npy_file.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>
#include <utility>

namespace fairlead::data {
namespace {

/// Headers of matrices have 128 bytes; a file that claims more than this is not a matrix.
constexpr Bytes longest_dictionary = Bytes{1} << 20;

NpyHeader header_of(const RegularFile& file) {
  const std::string& name = file.name();
  const auto preamble = parse_npy_preamble(file.read_some(0, NpyPreamble::longest), name);
  const Bytes data_offset = preamble.bytes + preamble.dictionary;
  if (file.bytes() < data_offset)
    throw InputError(
        fmt::format("{}: is truncated: it has {} bytes and the header alone promises {} ({} are missing)",
                    name, file.bytes(), data_offset, data_offset - file.bytes()));
  if (preamble.dictionary > longest_dictionary)
    throw InputError(
        fmt::format("{}: has a header of {} bytes, which no matrix needs", name, preamble.dictionary));
  NpyHeader header = parse_npy_dictionary(file.read_some(preamble.bytes, preamble.dictionary), name);
  header.data_offset = data_offset;

  require_matrix_shape(name, header);
  const Bytes promised = data_offset + header.data_bytes();
  if (file.bytes() < promised)
    throw InputError(fmt::format(
        "{}: is truncated: it has {} bytes, and its header promises {} for the shape {} ({} are missing)",
        name, file.bytes(), promised, shape_text(header.shape), promised - file.bytes()));
  return header;
}

}  // namespace

NpyFile::NpyFile(const std::filesystem::path& path) : NpyFile(std::make_shared<const RegularFile>(path)) {}

NpyFile::NpyFile(const std::shared_ptr<const RegularFile>& file) : NpyFile(file, header_of(*file)) {}

NpyFile::NpyFile(const std::shared_ptr<const RegularFile>& file, const NpyHeader& header)
    : ElementFile(file->name(), file, header, header.data_offset) {}

const MatrixFormat npy_format{
    .name = "an .npy file (it does not begin as numpy.save begins it)",
    .recognizes = [](const std::filesystem::path&,
                     std::string_view first_bytes) { return !first_bytes.empty() && is_npy(first_bytes); },
    .open = [](const std::filesystem::path& path, const std::string&) -> std::shared_ptr<const StoredMatrix> {
      return std::make_shared<const NpyFile>(path);
    }};

}  // namespace fairlead::data
