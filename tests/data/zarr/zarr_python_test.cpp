// Arrays written by Zarr for Python with all codecs, if it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data/matrix/zarr_kinds.hpp"
#include "data/python.hpp"

namespace fairlead::data {
namespace {

using namespace test;

TEST(ZarrForPython, ItsArraysAreRead) {
  const Directory directory;
  if (!run_python(directory, "import zarr, numcodecs")) GTEST_SKIP() << "no Zarr for /usr/bin/python3";
  ASSERT_TRUE(
      run_python(directory,
                 "import numcodecs, numpy as np, zarr\n"
                 "A = np.arange(70)[:, None] * 1024 + np.arange(90)[None, :] + 0.5\n"
                 "B = numcodecs.Blosc\n"
                 "codecs = {'none': None, 'zlib': numcodecs.Zlib(6), 'gzip': numcodecs.GZip(5), 'zstd': "
                 "numcodecs.Zstd(3),\n"
                 "  'lz4': numcodecs.LZ4(), 'blosc-lz4': B('lz4', 5, B.SHUFFLE), 'blosc-zstd': B('zstd', 3, "
                 "B.BITSHUFFLE),\n"
                 "  'blosc-zlib': B('zlib', 3, B.NOSHUFFLE), 'blosc-blosclz': B('blosclz', 9, B.SHUFFLE)}\n"
                 "three = int(zarr.__version__.split('.')[0]) >= 3\n"
                 "for name, codec in codecs.items():\n"
                 "  for dtype, order, chunks in (('<f8', 'C', (16, 32)), ('>f4', 'F', (70, 7))):\n"
                 "    options = dict(shape=A.shape, chunks=chunks, dtype=dtype, fill_value=0, order=order)\n"
                 "    path = '%s-%s.zarr' % (name, order)\n"
                 "    if three: a = zarr.create(store=path, zarr_format=2, compressor=codec, **options)\n"
                 "    else: a = zarr.open(path, mode='w', compressor=codec, **options)\n"
                 "    a[:] = A\n"
                 "if three:\n"
                 "  import zarr.codecs as c\n"
                 "  for name, options in {'default': {}, 'plain': dict(compressors=None), 'gzip': "
                 "dict(compressors=c.GzipCodec()),\n"
                 "      'blosc': dict(compressors=c.BloscCodec()), 'crc': dict(compressors=[c.ZstdCodec(), "
                 "c.Crc32cCodec()]),\n"
                 "      'turned': dict(filters=c.TransposeCodec(order=(1, 0))), 'big': "
                 "dict(serializer=c.BytesCodec(endian='big')),\n"
                 "      'shards': dict(shards=(32, 64)), 'plain-shards': dict(shards=(32, 64), "
                 "compressors=None)}.items():\n"
                 "    a = zarr.create_array('v3-%s.zarr' % name, shape=A.shape, chunks=(16, 32), dtype='f8', "
                 "fill_value=0, **options)\n"
                 "    a[:] = A\n"))
      << content(directory / "error");
  int arrays = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".zarr") continue;
    if (entry.path().string().find("blosc") != std::string::npos && !has_library("libblosc.so.1")) continue;
    const Stored matrix = open_matrix_file(entry.path());
    std::vector<double> out(70 * 90);
    matrix->read_block<double>(0, 70, 0, 90, out.data(), 70);
    for (std::uint64_t j = 0; j < 90; ++j)
      for (std::uint64_t i = 0; i < 70; ++i) ASSERT_EQ(out[i + 70 * j], element(i, j)) << entry.path();
    ++arrays;
  }
  EXPECT_GE(arrays, 10);
}

}  // namespace
}  // namespace fairlead::data
