// Zarr arrays: what is read of the metadata, chunks that are missing or damaged, and how often chunks are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fairlead/error.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/matrix/zarr_kinds.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

const std::string plain_v2 =
    R"({"zarr_format":2,"shape":[20,30],"chunks":[8,8],"dtype":"<f8","compressor":null,"fill_value":0.5,"order":"C","filters":null})";
const std::string plain_v3 =
    R"({"zarr_format":3,"node_type":"array","shape":[20,30],"data_type":"float64",)"
    R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[8,8]}},)"
    R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":0,)"
    R"("codecs":[{"name":"bytes","configuration":{"endian":"little"}}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class ZarrArrays : public testing::Test {
 protected:
  std::string error_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "not refused";
  }
  /// The error of opening an array with these metadata.
  std::string refused(const std::string& file, const std::string& metadata) const {
    directory.write("A.zarr/" + file, metadata);
    const std::string error = error_of([&] { open(); });
    std::filesystem::remove_all(directory / "A.zarr");
    return error;
  }
  Stored open() const { return open_matrix_file(directory / "A.zarr"); }
  static double at(const Stored& matrix, std::uint64_t row, std::uint64_t column) {
    double value = 0;
    matrix->read_block<double>(row, 1, column, 1, &value, 1);
    return value;
  }
  void write(const ZarrOptions& options, std::uint64_t rows = 20, std::uint64_t columns = 30) const {
    write_zarr(directory / "A.zarr", options, rows, columns, element);
  }
  std::filesystem::path chunk(const std::string& key) const { return directory / "A.zarr" / key; }

  Directory directory;
};

TEST_F(ZarrArrays, OtherArraysAreRefusedWithTheReason) {
  EXPECT_THAT(refused(".zarray", "{"),
              HasSubstr("A.zarr: the metadata of this Zarr array are malformed: it is not a JSON object"));
  EXPECT_THAT(refused(".zarray", "{}"), HasSubstr("'zarr_format' is missing"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[20,30]", "[20,-3]")),
              HasSubstr("'shape' has an element"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[20,30]", "[20,0]")),
              HasSubstr("is empty: its shape is (20, 0)"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[20,30]", "[20,30,2]")), HasSubstr("has 3 dimensions"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[8,8]", "[8]")), HasSubstr("chunks of shape (8,)"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[8,8]", "[8,0]")), HasSubstr("chunks of shape (8, 0)"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "[8,8]", "[4611686018427387904,8]")),
              HasSubstr("larger than any file"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "<f8", "<i4")),
              AllOf(HasSubstr("holds 32-bit integers"), HasSubstr("astype('f8')")));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "\"<f8\"", "[[\"a\",\"<f8\"]]")),
              HasSubstr("records of several fields"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "\"compressor\":null", R"("compressor":{"id":"bz2"})")),
              AllOf(HasSubstr("'bz2'"), HasSubstr("supported are zlib, gzip, zstd, lz4 and blosc")));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "\"filters\":null", R"("filters":[{"id":"delta"}])")),
              HasSubstr("the filter 'delta'"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "\"order\":\"C\"", "\"order\":\"X\"")),
              HasSubstr("neither C nor F"));
  EXPECT_THAT(refused(".zarray", replaced(plain_v2, "0.5", "\"x\"")),
              HasSubstr("'fill_value' is not a number"));
  EXPECT_THAT(refused("zarr.json", replaced(plain_v3, "\"zarr_format\":3", "\"zarr_format\":4")),
              HasSubstr("'zarr_format' is not 3"));
  EXPECT_THAT(refused("zarr.json", replaced(plain_v3, "float64", "int16")),
              HasSubstr("holds elements of type int16"));
  EXPECT_THAT(refused("zarr.json", replaced(plain_v3, "\"regular\"", "\"rectilinear\"")),
              HasSubstr("the chunk grid 'rectilinear'"));
  EXPECT_THAT(refused("zarr.json",
                      replaced(plain_v3, R"({"name":"bytes")", R"({"name":"packbits"},{"name":"bytes")")),
              HasSubstr("the codec 'packbits'"));
  EXPECT_THAT(refused("zarr.json",
                      replaced(plain_v3, R"([{"name":"bytes","configuration":{"endian":"little"}}])", "[]")),
              HasSubstr("no codec"));
  EXPECT_THAT(refused("zarr.json", replaced(plain_v3, "}}]}", R"(}},{"name":"lzma"}]})")),
              HasSubstr("'lzma', which is not supported"));
}

TEST_F(ZarrArrays, AGroupIsRefusedWithTheNamesOfItsArrays) {
  directory.write("G/.zgroup", R"({"zarr_format":2})");
  directory.write("G/one/.zarray", plain_v2);
  directory.write("G/two/zarr.json", plain_v3);
  directory.write("G/three/zarr.json", R"({"zarr_format":3,"node_type":"group"})");
  const std::string path = (directory / "G").string();
  EXPECT_THAT(error_of([&] { open_matrix_file(path); }),
              HasSubstr("is a Zarr group; name an array in it: " + path + "::one, " + path + "::two"));
  EXPECT_THAT(error_of([&] { open_matrix_file(path + "::three"); }), HasSubstr("three: is a Zarr group"));
  EXPECT_THAT(error_of([&] { open_matrix_file(path + "::four"); }), HasSubstr("is not a Zarr array"));
  EXPECT_EQ(open_matrix_file(path + "::two")->rows(), 20u);
  EXPECT_EQ(open_matrix_file(path + "/one")->columns(), 30u);
}

TEST_F(ZarrArrays, MissingChunksHaveTheFillValue) {
  for (const ZarrOptions& options :
       {ZarrOptions{.descr = ">f4"},
        ZarrOptions{.version = 3, .separator = '/', .shard_rows = 2, .shard_columns = 2}}) {
    write(options);
    std::filesystem::remove(chunk(options.version == 2 ? "1.2" : "c/1/1"));
    const Stored matrix = open();
    EXPECT_EQ(at(matrix, 7, 29), element(7, 29));
    EXPECT_EQ(at(matrix, 17, 20), options.version == 2 ? element(17, 20) : 0.5);
    EXPECT_EQ(at(matrix, 8, 16), options.version == 2 ? 0.5 : element(8, 16));
  }
  for (const auto& [text, value] :
       {std::pair("\"Infinity\"", HUGE_VAL), {"\"-Infinity\"", -HUGE_VAL}, {"-3", -3.0}}) {
    directory.write("A.zarr/.zarray", replaced(plain_v2, "0.5", text));
    std::filesystem::remove(chunk("0.0"));
    EXPECT_EQ(at(open(), 0, 0), value);
  }
  directory.write("A.zarr/.zarray", replaced(plain_v2, "0.5", "\"NaN\""));
  EXPECT_TRUE(std::isnan(at(open(), 0, 0)));
  directory.write("A.zarr/.zarray", replaced(plain_v2, "0.5", "null"));
  EXPECT_THAT(error_of([&] { at(open(), 0, 0); }),
              HasSubstr("0.0: does not exist, and the array has no fill value"));
  std::filesystem::remove_all(directory / "A.zarr");
  directory.write("A.zarr/zarr.json",
                  replaced(plain_v3, "\"fill_value\":0", "\"fill_value\":\"0x4008000000000000\""));
  EXPECT_EQ(at(open(), 0, 0), 3.0);
}

TEST_F(ZarrArrays, DamagedChunksAreRefusedWithTheirNames) {
  const auto damaged = [&](const ZarrOptions& options, const std::string& key,
                           const std::function<void(std::string&)>& damage) {
    write(options);
    std::string bytes = content(chunk(key));
    damage(bytes);
    directory.write("A.zarr/" + key, bytes);
    return error_of([&] {
      std::vector<double> all(20 * 30);
      open()->read_block<double>(0, 20, 0, 30, all.data(), 20);
    });
  };
  const auto shorten = [](std::string& bytes) { bytes.pop_back(); };
  const auto lengthen = [](std::string& bytes) { bytes += 'x'; };
  const auto flip = [](std::string& bytes) { bytes[20] = static_cast<char>(bytes[20] ^ 1); };
  EXPECT_THAT(damaged({}, "1.2", shorten),
              HasSubstr("1.2: is truncated: a chunk has 511 bytes in place of 512"));
  EXPECT_THAT(damaged({}, "1.2", lengthen),
              HasSubstr("1.2: is damaged: a chunk has 513 bytes in place of 512"));
  for (const char* codec : {"gzip", "zlib"}) {
    EXPECT_THAT(
        damaged({.codec = codec}, "2.0", shorten),
        HasSubstr(std::string("2.0: a chunk cannot be decompressed by ") + codec + ": it ends too early"));
    EXPECT_THAT(damaged({.codec = codec}, "2.0", flip), HasSubstr("incorrect data check"));
    EXPECT_THAT(damaged({.codec = codec}, "2.0",
                        [&](std::string& bytes) { bytes = encoded(std::string(511, 'x'), codec); }),
                HasSubstr("it ends too early"));
    EXPECT_THAT(damaged({.codec = codec}, "2.0",
                        [&](std::string& bytes) { bytes = encoded(std::string(513, 'x'), codec); }),
                HasSubstr("it has more than 512 bytes"));
    EXPECT_THAT(damaged({.codec = codec}, "2.0", [&](std::string& bytes) { bytes = "no such thing"; }),
                HasSubstr("incorrect header check"));
  }
  EXPECT_THAT(damaged({.version = 3, .separator = '/', .checksum = true}, "c/0/1", flip),
              HasSubstr("c/0/1: is damaged: its checksum is wrong"));
  const ZarrOptions shards{.version = 3, .separator = '/', .shard_rows = 2, .shard_columns = 2};
  EXPECT_THAT(damaged(shards, "c/0/1", [](std::string& bytes) { bytes.resize(10); }),
              HasSubstr("c/0/1: is truncated"));
  EXPECT_THAT(damaged(shards, "c/0/1", [](std::string& bytes) { bytes[bytes.size() - 5] ^= 1; }),
              HasSubstr("c/0/1: is damaged: its checksum is wrong"));
  EXPECT_THAT(damaged(shards, "c/0/1",
                      [](std::string& bytes) {
                        std::string index = bytes.substr(bytes.size() - 68, 64);
                        index.replace(0, 8, little_endian(std::uint64_t{1} << 40));
                        bytes.replace(bytes.size() - 68, 68, index + crc32c_of(index));
                      }),
              HasSubstr("c/0/1: is damaged: a chunk at byte 1099511627776"));
  if (has_library("libzstd.so.1")) {
    EXPECT_THAT(damaged({.codec = "zstd"}, "0.0", shorten),
                HasSubstr("0.0: a chunk cannot be decompressed by zstd"));
    EXPECT_THAT(damaged({.codec = "zstd"}, "0.0",
                        [&](std::string& bytes) { bytes = encoded(std::string(511, 'x'), "zstd"); }),
                HasSubstr("it has 511 bytes in place of 512"));
  }
  if (has_library("liblz4.so.1")) {
    EXPECT_THAT(damaged({.codec = "lz4"}, "0.0", shorten),
                HasSubstr("0.0: a chunk cannot be decompressed by lz4"));
  }
  if (has_library("libblosc.so.1")) {
    EXPECT_THAT(damaged({.codec = "blosc"}, "0.0", shorten),
                HasSubstr("0.0: a chunk cannot be decompressed by blosc"));
  }
}

TEST_F(ZarrArrays, AVectorIsOneColumn) {
  directory.write("A.zarr/.zarray", replaced(replaced(plain_v2, "[20,30]", "[20]"), "[8,8]", "[8]"));
  for (std::uint64_t i = 0; i < 3; ++i)
    directory.write("A.zarr/" + std::to_string(i),
                    elements("<f8", true, 8, 1,
                             [i](std::uint64_t row, std::uint64_t) { return element(8 * i + row, 0); }));
  const Stored vector = open();
  EXPECT_EQ(vector->dimensions(), 1);
  EXPECT_EQ(vector->columns(), 1u);
  std::vector<double> all(20);
  vector->read_block<double>(0, 20, 0, 1, all.data(), 20);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(all[i], element(i, 0));
}

TEST_F(ZarrArrays, EachChunkIsReadOnceInAPassOverTheMatrix) {
  for (const bool tall : {false, true}) {
    write({.chunk_rows = tall ? 40u : 25u, .chunk_columns = tall ? 25u : 40u}, 400, 400);
    const Stored matrix = open();
    EXPECT_EQ(matrix->order(), tall ? StorageOrder::fortran : StorageOrder::c);
    std::vector<double> band(400 * 13);
    for (std::uint64_t at = 0; at < 400; at += 13) {
      const std::uint64_t lines = std::min<std::uint64_t>(13, 400 - at);
      for (std::uint64_t along = 0; along < 400; along += 50)
        if (tall)
          matrix->read_block<double>(along, 50, at, lines, band.data(), 50);
        else
          matrix->read_block<double>(at, lines, along, 50, band.data(), lines);
    }
    EXPECT_EQ(matrix->bytes_read(), 400u * 400 * 8);
    EXPECT_EQ(matrix->memory_bytes(), 2u * 25 * 400 * 8);
  }
}

TEST_F(ZarrArrays, AModificationOfTheMetadataIsNoticed) {
  write({});
  const Stored matrix = open();
  EXPECT_FALSE(matrix->changed());
  directory.write("A.zarr/.zarray", plain_v2 + "  ");
  EXPECT_TRUE(matrix->changed());
}

}  // namespace
}  // namespace fairlead::data
