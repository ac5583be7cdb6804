// Reads the files of chunks and shards.
#include "data/zarr/zarr_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fairlead/error.hpp>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "base/file_descriptor.hpp"
#include "data/matrix/chunked_matrix.hpp"
#include "data/matrix/decompressor.hpp"
#include "data/matrix/regular_file.hpp"
#include "data/zarr/zarr_metadata.hpp"

namespace fairlead::data {
namespace {

namespace fs = std::filesystem;

constexpr const char *array_v2 = ".zarray", *group_v2 = ".zgroup", *node_v3 = "zarr.json";
constexpr Bytes checksum_bytes = 4;

/// Numbers in files are little-endian.
template <class Number>
Number little_endian(const std::byte* from) noexcept {
  Number value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    value = static_cast<Number>(value << 8 | std::to_integer<Number>(from[i]));
  return value;
}

/// Removes the checksum behind the bytes. Throws InputError if it is wrong.
std::span<const std::byte> checked(std::span<const std::byte> bytes, const std::string& name) {
  const std::size_t size = bytes.size() < checksum_bytes ? 0 : bytes.size() - checksum_bytes;
  if (bytes.size() < checksum_bytes ||
      crc32c(bytes.first(size)) != little_endian<std::uint32_t>(bytes.data() + size))
    throw InputError(fmt::format("{}: is damaged: its checksum is wrong", name));
  return bytes.first(size);
}

class ZarrStore final : public ChunkStore {
 public:
  ZarrStore(fs::path directory, const fs::path& metadata_file, ZarrMetadata metadata)
      : directory_(std::move(directory)), metadata_file_(metadata_file), metadata_(std::move(metadata)) {
    if (!metadata_.codecs.compression.empty())
      decompressor_ = load_decompressor(metadata_.codecs.compression, directory_.string());
  }

  void read_chunk(std::uint64_t row, std::uint64_t column, std::span<std::byte> into) const override {
    std::vector<std::uint64_t> indices{row};
    if (metadata_.layout.shape.size() == 2) indices.push_back(column);
    std::uint64_t in_shard = 0;  // the number of the chunk in its shard, row by row
    for (std::size_t i = 0; i < metadata_.shard.size(); ++i) {
      in_shard = in_shard * metadata_.shard[i] + indices[i] % metadata_.shard[i];
      indices[i] /= metadata_.shard[i];
    }
    const fs::path path = directory_ / metadata_.key(indices);
    std::error_code error;
    if (fs::status(path, error).type() == fs::file_type::not_found) return fill(path, into);
    const RegularFile file(path);
    std::pair<Bytes, Bytes> range{0, file.bytes()};
    if (!metadata_.shard.empty()) {
      const auto in_file = range_in_shard(file, in_shard);
      if (!in_file) return fill(path, into);
      range = *in_file;
    }
    read_range(file, range.first, range.second, into);
    bytes_read_.fetch_add(file.bytes_read(), std::memory_order_relaxed);
  }

  FileVersion version() const noexcept override { return metadata_file_.version(); }
  bool changed() const noexcept override { return metadata_file_.changed(); }
  Bytes bytes_read() const noexcept override { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  void fill(const fs::path& path, std::span<std::byte> into) const {
    if (!metadata_.fill)
      throw InputError(fmt::format("{}: does not exist, and the array has no fill value", path.string()));
    const ElementType element = metadata_.layout.element;
    std::vector<std::byte> bytes;
    const auto append = [&](auto part) {
      std::byte of_part[sizeof(part)];
      std::memcpy(of_part, &part, sizeof(part));
      if (metadata_.layout.byte_swapped) std::ranges::reverse(of_part);
      bytes.insert(bytes.end(), std::begin(of_part), std::end(of_part));
    };
    for (const double part : {metadata_.fill->real(), metadata_.fill->imag()}) {
      if (bytes.size() == bytes_of(element)) break;  // of a real number
      is_single(element) ? append(static_cast<float>(part)) : append(part);
    }
    for (std::size_t i = 0; i < into.size(); i += bytes.size())
      std::memcpy(&into[i], bytes.data(), bytes.size());
  }

  /// Offset and size of a chunk in the file of its shard; nothing if it is not stored.
  std::optional<std::pair<Bytes, Bytes>> range_in_shard(const RegularFile& file,
                                                        std::uint64_t in_shard) const {
    constexpr Bytes entry = 2 * sizeof(std::uint64_t);
    constexpr std::uint64_t none = ~std::uint64_t{0};
    Bytes chunks = 1;
    for (const std::uint64_t count : metadata_.shard) chunks *= count;
    const Bytes size = chunks * entry + (metadata_.index_checksum ? checksum_bytes : 0);
    if (file.bytes() < size)
      throw InputError(fmt::format("{}: is truncated: it has {} bytes, and its index alone has {}",
                                   file.name(), file.bytes(), size));
    std::vector<std::byte> index(size);
    file.read(metadata_.index_at_start ? 0 : file.bytes() - size, index);
    if (metadata_.index_checksum) checked(index, file.name());
    const auto offset = little_endian<std::uint64_t>(index.data() + in_shard * entry),
               bytes = little_endian<std::uint64_t>(index.data() + in_shard * entry + sizeof(std::uint64_t));
    if (offset == none && bytes == none) return std::nullopt;
    if (offset > file.bytes() || bytes > file.bytes() - offset)
      throw InputError(fmt::format("{}: is damaged: a chunk at byte {} with {} bytes exceeds its {} bytes",
                                   file.name(), offset, bytes, file.bytes()));
    return std::pair{offset, bytes};
  }

  void read_range(const RegularFile& file, Bytes offset, Bytes bytes, std::span<std::byte> into) const {
    const bool plain = decompressor_ == nullptr;
    const Bytes expected = into.size() + (metadata_.codecs.checksum ? checksum_bytes : 0);
    if (plain && bytes != expected)
      throw InputError(fmt::format("{}: is {}: a chunk has {} bytes in place of {}", file.name(),
                                   bytes < expected ? "truncated" : "damaged", bytes, expected));
    if (plain && !metadata_.codecs.checksum) return file.read(offset, into);
    std::vector<std::byte> stored(bytes);
    file.read(offset, stored);
    const std::span<const std::byte> content =
        metadata_.codecs.checksum ? checked(stored, file.name()) : std::span<const std::byte>(stored);
    if (plain) {
      std::ranges::copy(content, into.begin());
      return;
    }
    const std::string reason = decompressor_->decompress(content, into);
    if (!reason.empty())
      throw InputError(fmt::format("{}: a chunk cannot be decompressed by {}: {}", file.name(),
                                   metadata_.codecs.compression, reason));
  }

  fs::path directory_;
  RegularFile metadata_file_;
  ZarrMetadata metadata_;
  std::shared_ptr<const Decompressor> decompressor_;
  mutable std::atomic<Bytes> bytes_read_ = 0;
};

bool has(const fs::path& directory, const char* file) {
  std::error_code ignored;
  return fs::exists(directory / file, ignored);
}

std::string metadata_text(const RegularFile& file) {
  constexpr Bytes most = Bytes{64} << 20;
  if (file.bytes() > most)
    throw InputError(fmt::format("{}: has {} bytes, which no metadata need", file.name(), file.bytes()));
  return file.read_some(0, file.bytes());
}

/// Throws the error for a group, with the arrays in it.
[[noreturn]] void refuse_group(const fs::path& directory) {
  std::vector<std::string> arrays;
  for (const std::string& entry : list_directory(directory)) {
    const fs::path inside = directory / entry;
    if (has(inside, array_v2) ||
        (has(inside, node_v3) && !is_zarr_group(metadata_text(RegularFile(inside / node_v3)))))
      arrays.push_back(fmt::format("{}::{}", directory.string(), entry));
  }
  std::ranges::sort(arrays);
  throw InputError(fmt::format("{}: is a Zarr group; name an array in it{}{}", directory.string(),
                               arrays.empty() ? "" : ": ", fmt::join(arrays, ", ")));
}

std::shared_ptr<const StoredMatrix> open_zarr(const fs::path& path, const std::string& inside) {
  const fs::path directory = inside.empty() ? path : path / fs::path(inside).relative_path();
  const std::string name = directory.string();
  const bool is_v2 = has(directory, array_v2);
  if (!is_v2 && has(directory, group_v2)) refuse_group(directory);
  if (!is_v2 && !has(directory, node_v3))
    throw InputError(
        fmt::format("{}: is not a Zarr array: it has neither {} nor {}", name, array_v2, node_v3));
  const fs::path file = directory / (is_v2 ? array_v2 : node_v3);
  const std::string text = metadata_text(RegularFile(file));
  if (!is_v2 && is_zarr_group(text)) refuse_group(directory);
  ZarrMetadata metadata = is_v2 ? parse_zarr_v2(text, name) : parse_zarr_v3(text, name);
  const ArrayLayout layout = metadata.layout;
  const ChunkShape chunk{metadata.chunk[0], metadata.chunk.size() == 2 ? metadata.chunk[1] : 1, layout.order};
  return std::make_shared<const ChunkedMatrix>(
      name, layout, chunk, std::make_shared<const ZarrStore>(directory, file, std::move(metadata)));
}

}  // namespace

const MatrixFormat zarr_format{.name = "a Zarr array (a directory with .zarray or zarr.json)",
                               .recognizes =
                                   [](const fs::path& path, std::string_view) {
                                     return has(path, array_v2) || has(path, group_v2) || has(path, node_v3);
                                   },
                               .open = open_zarr};

}  // namespace fairlead::data
