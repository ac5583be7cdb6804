// The metadata of a Zarr array, versions 2 and 3: element type, shape, chunks, compression.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/matrix/array_layout.hpp"

namespace fairlead::data {

/// How the bytes of a chunk are stored.
struct ZarrCodecs {
  std::string compression;  ///< as load_decompressor() names it; empty: none
  bool checksum = false;    ///< a CRC-32C follows
};

struct ZarrMetadata {
  ArrayLayout layout;                ///< the order is that of the elements of a chunk
  std::vector<std::uint64_t> chunk;  ///< elements of a chunk, in each dimension
  ZarrCodecs codecs;
  /// The value of elements in chunks that are not stored.
  std::optional<std::complex<double>> fill;
  std::string key_prefix;  ///< of the names of chunks: "c"
  char separator = '.';
  std::vector<std::uint64_t> shard;  ///< chunks in a file, in each dimension; empty: each chunk has its file
  bool index_at_start = false;       ///< of a shard
  bool index_checksum = false;

  /// The file of a chunk or shard, relative to the directory of the array.
  std::string key(const std::vector<std::uint64_t>& indices) const;
};

/// Parses .zarray. `name`: of the array, for messages. Throws InputError: malformed, or not supported.
ZarrMetadata parse_zarr_v2(std::string_view text, const std::string& name);
/// Parses zarr.json of an array.
ZarrMetadata parse_zarr_v3(std::string_view text, const std::string& name);
/// Whether this is zarr.json of a group.
bool is_zarr_group(std::string_view text);

}  // namespace fairlead::data
