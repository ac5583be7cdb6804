// Zarr arrays, written by the specifications of the format and of the codecs. Codecs store the bytes uncompressed, which
// all of them allow.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shared_library.hpp"
#include "data/matrix/formats.hpp"
#include "data/matrix/kinds.hpp"

namespace fairlead::data::test {

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

/// A checksum, bit by bit.
inline std::uint32_t crc_of(const std::string& bytes, std::uint32_t polynomial) {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? sum >> 1 ^ polynomial : sum >> 1;
  }
  return ~sum;
}
inline std::string crc32c_of(const std::string& bytes) { return little_endian(crc_of(bytes, 0x82f63b78)); }

/// RFC 1951 in a header and trailer of RFC 1952 (gzip) or RFC 1950 (zlib).
inline std::string deflated(const std::string& bytes, bool gzip) {
  std::string out = gzip ? std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) : std::string("\x78\x01");
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) a = (a + static_cast<unsigned char>(byte)) % 65521, b = (b + a) % 65521;
  for (std::size_t at = 0; at < bytes.size() || at == 0; at += 65535) {
    const std::string block = bytes.substr(at, 65535);
    out += at + 65535 >= bytes.size() ? '\x01' : '\0';
    out += little_endian(static_cast<std::uint16_t>(block.size()));
    out += little_endian(static_cast<std::uint16_t>(~block.size())) + block;
  }
  if (gzip)
    return out + little_endian(crc_of(bytes, 0xedb88320)) +
           little_endian(static_cast<std::uint32_t>(bytes.size()));
  const std::uint32_t adler = b << 16 | a;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(adler >> shift & 0xff);
  return out;
}

/// RFC 8878: one segment with a size of 8 bytes, in raw blocks.
inline std::string in_zstd_frame(const std::string& bytes) {
  std::string out = "\x28\xb5\x2f\xfd\xe0" + little_endian(static_cast<std::uint64_t>(bytes.size()));
  constexpr std::size_t most = 100000;
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    const std::string block = bytes.substr(at, most);
    const bool last = at + most >= bytes.size();
    out += little_endian(static_cast<std::uint32_t>(block.size() << 3 | (last ? 1 : 0))).substr(0, 3) + block;
  }
  return out;
}

/// An LZ4 block of literals, behind its size.
inline std::string in_lz4_block(const std::string& bytes) {
  std::string out = little_endian(static_cast<std::uint32_t>(bytes.size()));
  out += static_cast<char>(std::min<std::size_t>(bytes.size(), 15) << 4);
  if (bytes.size() >= 15) {
    std::size_t rest = bytes.size() - 15;
    for (; rest >= 255; rest -= 255) out += '\xff';
    out += static_cast<char>(rest);
  }
  return out + bytes;
}

/// Blosc 1, with the flag for bytes that are not compressed.
inline std::string in_blosc_buffer(const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return std::string("\x02\x01\x02\x08", 4) + little_endian(size) + little_endian(size) +
         little_endian(size + 16) + bytes;
}

inline std::string encoded(const std::string& bytes, const std::string& codec) {
  if (codec == "gzip" || codec == "zlib") return deflated(bytes, codec == "gzip");
  if (codec == "zstd") return in_zstd_frame(bytes);
  if (codec == "lz4") return in_lz4_block(bytes);
  if (codec == "blosc") return in_blosc_buffer(bytes);
  return bytes;
}

inline bool has_library(const char* name) {
  try {
    SharedLibrary::open(name);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

struct ZarrOptions {
  int version = 2;
  std::string descr = "<f8";
  bool fortran = false;  ///< in a chunk
  std::uint64_t chunk_rows = 8, chunk_columns = 8;
  std::string codec{};
  char separator = '.';
  bool checksum = false;
  std::uint64_t shard_rows = 0, shard_columns = 0;  ///< in chunks; 0: none
  bool index_at_start = false;
};

inline std::string quoted_codec(const ZarrOptions& options) {
  const std::string bytes = std::string(R"({"name":"bytes","configuration":{"endian":")") +
                            (options.descr[0] == '>' ? "big" : "little") + R"("}})";
  std::string codecs =
      options.fortran ? R"({"name":"transpose","configuration":{"order":[1,0]}},)" + bytes : bytes;
  if (!options.codec.empty()) codecs += R"(,{"name":")" + options.codec + R"(","configuration":{"level":1}})";
  if (options.checksum) codecs += R"(,{"name":"crc32c"})";
  return "[" + codecs + "]";
}

inline std::string zarr_metadata(const ZarrOptions& options, std::uint64_t rows, std::uint64_t columns) {
  const auto pair = [](std::uint64_t a, std::uint64_t b) {
    return "[" + std::to_string(a) + "," + std::to_string(b) + "]";
  };
  const std::string chunk = pair(options.chunk_rows, options.chunk_columns);
  if (options.version == 2)
    return R"({"zarr_format":2,"shape":)" + pair(rows, columns) + R"(,"chunks":)" + chunk + R"(,"dtype":")" +
           options.descr + R"(","compressor":)" +
           (options.codec.empty() ? "null" : R"({"id":")" + options.codec + R"(","level":1})") +
           R"(,"fill_value":0.5,"order":")" + (options.fortran ? "F" : "C") +
           R"(","filters":null,"dimension_separator":")" + options.separator + "\"}";
  const bool sharded = options.shard_rows != 0;
  const std::string shard =
      pair(options.chunk_rows * options.shard_rows, options.chunk_columns * options.shard_columns);
  const std::string codecs =
      !sharded
          ? quoted_codec(options)
          : R"([{"name":"sharding_indexed","configuration":{"chunk_shape":)" + chunk + R"(,"codecs":)" +
                quoted_codec(options) +
                R"(,"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],)" +
                R"("index_location":")" + (options.index_at_start ? "start" : "end") + "\"}}]";
  return R"({"zarr_format":3,"node_type":"array","shape":)" + pair(rows, columns) + R"(,"data_type":")" +
         (options.descr.ends_with("f4") ? "float32" : "float64") +
         R"(","chunk_grid":{"name":"regular","configuration":{"chunk_shape":)" + (sharded ? shard : chunk) +
         R"(}},"chunk_key_encoding":{"name":"default","configuration":{"separator":")" + options.separator +
         R"("}},"fill_value":0.5,"codecs":)" + codecs + R"(,"attributes":{}})";
}

/// The stored bytes of a chunk.
inline std::string zarr_chunk(const ZarrOptions& options, std::uint64_t i, std::uint64_t j,
                              const Elements& value_of) {
  const std::string bytes =
      elements(options.descr, options.fortran, options.chunk_rows, options.chunk_columns,
               [&](std::uint64_t row, std::uint64_t column) {
                 return value_of(i * options.chunk_rows + row, j * options.chunk_columns + column);
               });
  const std::string stored = encoded(bytes, options.codec);
  return options.checksum ? stored + crc32c_of(stored) : stored;
}

/// Writes the array into the directory `path`.
inline void write_zarr(const std::filesystem::path& path, const ZarrOptions& options, std::uint64_t rows,
                       std::uint64_t columns, const Elements& value_of) {
  const auto write = [&](const std::string& key, const std::string& bytes) {
    std::filesystem::create_directories((path / key).parent_path());
    std::ofstream(path / key, std::ios::binary) << bytes;
  };
  const Elements inside = [&](std::uint64_t row, std::uint64_t column) {
    return row < rows && column < columns ? value_of(row, column) : -7;
  };
  const auto key = [&](std::uint64_t i, std::uint64_t j) {
    const std::string name = std::to_string(i) + options.separator + std::to_string(j);
    return options.version == 2 ? name : std::string("c") + options.separator + name;
  };
  std::filesystem::remove_all(path);
  write(options.version == 2 ? ".zarray" : "zarr.json", zarr_metadata(options, rows, columns));
  const std::uint64_t across = (rows + options.chunk_rows - 1) / options.chunk_rows,
                      along = (columns + options.chunk_columns - 1) / options.chunk_columns;
  if (options.shard_rows == 0) {
    for (std::uint64_t i = 0; i < across; ++i)
      for (std::uint64_t j = 0; j < along; ++j) write(key(i, j), zarr_chunk(options, i, j, inside));
    return;
  }
  for (std::uint64_t i = 0; i * options.shard_rows < across; ++i)
    for (std::uint64_t j = 0; j * options.shard_columns < along; ++j) {
      const std::uint64_t index_bytes = options.shard_rows * options.shard_columns * 16 + 4;
      std::string index, chunks;
      for (std::uint64_t a = i * options.shard_rows; a < (i + 1) * options.shard_rows; ++a)
        for (std::uint64_t b = j * options.shard_columns; b < (j + 1) * options.shard_columns; ++b) {
          const bool exists = a < across && b < along;
          const std::string chunk = exists ? zarr_chunk(options, a, b, inside) : "";
          const std::uint64_t offset = chunks.size() + (options.index_at_start ? index_bytes : 0);
          index += little_endian(exists ? offset : ~std::uint64_t{0});
          index += little_endian(exists ? std::uint64_t{chunk.size()} : ~std::uint64_t{0});
          chunks += chunk;
        }
      index += crc32c_of(index);
      write(key(i, j), options.index_at_start ? index + chunks : chunks + index);
    }
}

inline MatrixKind zarr_kind(const ZarrOptions& options) {
  return {
      "zarr", std::nullopt,
      [=](const Directory& directory, std::uint64_t rows, std::uint64_t columns, const Elements& value_of) {
        write_zarr(directory / "A.zarr", options, rows, columns, value_of);
        return open_matrix_file(directory / "A.zarr");
      },
      "A.zarr"};
}

inline std::vector<MatrixKind> zarr_kinds() {
  std::vector<ZarrOptions> all{
      {.chunk_rows = 10, .chunk_columns = 30},
      {.descr = ">f4", .fortran = true, .chunk_rows = 64, .chunk_columns = 7, .separator = '/'},
      {.chunk_rows = 8, .chunk_columns = 9, .codec = "zlib"},
      {.fortran = true, .chunk_rows = 5, .chunk_columns = 2000, .codec = "gzip"},
      {.version = 3, .chunk_rows = 11, .chunk_columns = 33, .separator = '/'},
      {.version = 3,
       .descr = ">f8",
       .fortran = true,
       .chunk_rows = 40,
       .chunk_columns = 10,
       .separator = '.'},
      {.version = 3,
       .descr = "<f4",
       .chunk_rows = 1000,
       .chunk_columns = 5,
       .codec = "gzip",
       .checksum = true},
      {.version = 3, .chunk_rows = 6, .chunk_columns = 7, .shard_rows = 3, .shard_columns = 2},
      {.version = 3,
       .chunk_rows = 6,
       .chunk_columns = 8,
       .codec = "gzip",
       .checksum = true,
       .shard_rows = 2,
       .shard_columns = 4,
       .index_at_start = true}};
  if (has_library("libzstd.so.1"))
    all.push_back({.version = 3, .chunk_rows = 16, .chunk_columns = 21, .codec = "zstd"});
  if (has_library("liblz4.so.1")) all.push_back({.chunk_rows = 16, .chunk_columns = 21, .codec = "lz4"});
  if (has_library("libblosc.so.1")) all.push_back({.chunk_rows = 16, .chunk_columns = 21, .codec = "blosc"});
  std::vector<MatrixKind> kinds;
  for (const ZarrOptions& options : all) kinds.push_back(zarr_kind(options));
  return kinds;
}

}  // namespace fairlead::data::test
