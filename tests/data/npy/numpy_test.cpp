// Files written by NumPy, and files read by NumPy, if installed.
#include <gtest/gtest.h>

#include <vector>

#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "data/python.hpp"

namespace fairlead::data {
namespace {

using namespace test;

class WithNumPy : public testing::Test {
 protected:
  void SetUp() override {
    if (!python("import numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3: not compared with it";
  }
  bool python(const std::string& program) { return run_python(directory, program); }
  Directory directory;
};

TEST_F(WithNumPy, ItsFilesAreRead) {
  ASSERT_TRUE(
      python("import numpy as np\n"
             "A = np.arange(40)[:, None] * 1024 + np.arange(50)[None, :] + 0.5\n"
             "for t in ('<f8', '>f8', '<f4', '>f4'):\n"
             "  for o in 'CF':\n"
             "    for v in ((1, 0), (2, 0), (3, 0)):\n"
             "      with open('%s%s%s%d.npy' % ('l' if t[0] == '<' else 'b', t[1:], o, v[0]), 'wb') as f:\n"
             "        np.lib.format.write_array(f, np.array(A, dtype=t, order=o), version=v)\n"))
      << content(directory / "error");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().extension() != ".npy") continue;
    const NpyFile file(entry.path());
    std::vector<double> out(40 * 50);
    file.read_block<double>(0, 40, 0, 50, out.data(), 40);
    for (std::uint64_t j = 0; j < 50; ++j)
      for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(out[i + 40 * j], element(i, j)) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 24);
}

TEST_F(WithNumPy, ItReadsOurs) {
  std::vector<double> in(6 * 7);
  for (std::uint64_t j = 0; j < 7; ++j)
    for (std::uint64_t i = 0; i < 6; ++i) in[i + 6 * j] = element(i, j);
  for (const auto order : {StorageOrder::c, StorageOrder::fortran}) {
    NpyWriter writer(directory / (order == StorageOrder::c ? "C.npy" : "F.npy"), ElementType::float64, order,
                     {6, 7});
    writer.write_block<double>(0, 6, 0, 7, in.data(), 6);
    writer.commit();
  }
  EXPECT_TRUE(
      python("import numpy as np\n"
             "A = np.arange(6)[:, None] * 1024 + np.arange(7)[None, :] + 0.5\n"
             "for o in 'CF':\n"
             "  B = np.load(o + '.npy')\n"
             "  assert B.dtype == np.float64 and B.flags[o + '_CONTIGUOUS'] and (B == A).all()\n"))
      << content(directory / "error");
}

}  // namespace
}  // namespace fairlead::data
