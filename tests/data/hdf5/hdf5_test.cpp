// Datasets written by h5py, if it and HDF5's library are installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "data/matrix/element_file.hpp"
#include "data/matrix/formats.hpp"
#include "data/matrix/kinds.hpp"
#include "data/python.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

class Hdf5Files : public testing::Test {
 protected:
  void SetUp() override {
    if (!run_python(directory, "import h5py")) GTEST_SKIP() << "no h5py for /usr/bin/python3";
  }
  void write(const std::string& program) const {
    ASSERT_TRUE(run_python(directory,
                           "import h5py, numpy as np\n"
                           "A = np.arange(70)[:, None] * 1024 + np.arange(90)[None, :] + 0.5\n"
                           "with h5py.File('A.h5', 'w') as f:\n" +
                               program))
        << content(directory / "error");
  }
  std::string path() const { return (directory / "A.h5").string(); }
  std::string refused(const std::string& name) const {
    try {
      open_matrix_file(name);
    } catch (const InputError& error) {
      return error.what();
    }
    return "not refused";
  }
  Directory directory;
};

void expect_elements(const StoredMatrix& matrix) {
  ASSERT_EQ(matrix.rows(), 70u);
  ASSERT_EQ(matrix.columns(), 90u);
  std::vector<double> out(70 * 90);
  matrix.read_block<double>(0, 70, 0, 90, out.data(), 70);
  for (std::uint64_t j = 0; j < 90; ++j)
    for (std::uint64_t i = 0; i < 70; ++i) ASSERT_EQ(out[i + 70 * j], element(i, j)) << matrix.name();
}

TEST_F(Hdf5Files, DatasetsOfAllLayoutsAreRead) {
  write(
      "  f['plain'] = A\n"
      "  f['big'] = A.astype('>f4')\n"
      "  f.create_dataset('chunks', data=A, chunks=(16, 32))\n"
      "  f.create_dataset('group/inside/zipped', data=A.astype('f4'), chunks=(70, 7), compression='gzip', "
      "shuffle=True)\n"
      "  f.create_dataset('checked', data=A.astype('>f8'), chunks=(9, 90), fletcher32=True)\n"
      "  plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE); plist.set_layout(h5py.h5d.COMPACT)\n"
      "  space = h5py.h5s.create_simple(A.shape)\n"
      "  h5py.h5d.create(f.id, b'compact', h5py.h5t.IEEE_F64LE, space, plist).write(h5py.h5s.ALL, "
      "h5py.h5s.ALL, A)\n");
  for (const char* name : {"/plain", "/big", "/chunks", "/group/inside/zipped", "/checked", "/compact"})
    expect_elements(*open_matrix_file(path() + "::" + name));
  expect_elements(*open_matrix_file(path() + "::group/inside/zipped")->transposed()->transposed());

  const Stored plain = open_matrix_file(path() + "::/plain"), big = open_matrix_file(path() + "::/big");
  EXPECT_EQ(plain->name(), path() + "::/plain");
  EXPECT_EQ(big->element(), ElementType::float32);
  // Read from the file itself.
  EXPECT_NE(dynamic_cast<const ElementFile*>(plain.get()), nullptr);
  EXPECT_NE(dynamic_cast<const ElementFile*>(big.get()), nullptr);
  EXPECT_EQ(open_matrix_file(path() + "::/chunks")->order(), StorageOrder::c);
  EXPECT_EQ(open_matrix_file(path() + "::/group/inside/zipped")->order(), StorageOrder::fortran);
}

TEST_F(Hdf5Files, SeveralThreadsReadAtOnce) {
  write("  f.create_dataset('a', data=A, chunks=(16, 32), compression='gzip')\n");
  const Stored first = open_matrix_file(path()), second = open_matrix_file(path() + "::/a");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { expect_elements(i % 2 == 0 ? *first : *second); });
}

TEST_F(Hdf5Files, ElementsThatWereNotWrittenHaveTheFillValue) {
  write("  f.create_dataset('a', (70, 90), 'f8', fillvalue=7.5)\n");
  double value = 0;
  open_matrix_file(path())->read_block<double>(69, 1, 89, 1, &value, 1);
  EXPECT_EQ(value, 7.5);
}

TEST_F(Hdf5Files, AFileMayBeginWithABlockOfTheUser) {
  ASSERT_TRUE(run_python(directory,
                         "import h5py, numpy as np\n"
                         "A = np.arange(70)[:, None] * 1024 + np.arange(90)[None, :] + 0.5\n"
                         "with h5py.File('A.h5', 'w', userblock_size=512) as f: f['a'] = A\n"));
  expect_elements(*open_matrix_file(path()));
}

TEST_F(Hdf5Files, OtherDatasetsAreRefusedWithTheReason) {
  write(
      "  f['a'] = A; f['group/ints'] = A.astype('i4'); f['cube'] = np.zeros((2, 3, 4)); f['text'] = 'x'\n"
      "  f['scalar'] = 1.0; f['half'] = A.astype('f2'); f['empty'] = np.zeros((0, 3))\n");
  EXPECT_THAT(refused(path()),
              AllOf(HasSubstr("name a dataset of this HDF5 file"), HasSubstr(path() + "::/group/ints")));
  EXPECT_THAT(refused(path() + "::/b"),
              AllOf(HasSubstr("::/b: cannot be opened"), HasSubstr(path() + "::/a")));
  EXPECT_THAT(refused(path() + "::/group/ints"), HasSubstr("holds 32-bit integers"));
  EXPECT_THAT(refused(path() + "::/half"), HasSubstr("holds 16-bit floating point numbers"));
  EXPECT_THAT(refused(path() + "::/text"), HasSubstr("elements of another type than numbers"));
  EXPECT_THAT(refused(path() + "::/cube"), HasSubstr("has 3 dimensions"));
  EXPECT_THAT(refused(path() + "::/scalar"), HasSubstr("has 0 dimensions"));
  EXPECT_THAT(refused(path() + "::/empty"), HasSubstr("is empty"));
}

TEST_F(Hdf5Files, DamagedFilesAreRefused) {
  write("  f.create_dataset('a', data=A, chunks=(16, 32), fletcher32=True)\n");
  std::string bytes = content(path());
  const auto place = bytes.find(elements("<f8", false, 1, 16));  // the first chunk
  ASSERT_NE(place, std::string::npos);
  std::string changed = bytes;
  changed[place] ^= 1;
  directory.file("A.h5", changed);
  std::vector<double> out(70 * 90);
  EXPECT_THROW(open_matrix_file(path())->read_block<double>(0, 70, 0, 90, out.data(), 70), InputError);
  directory.file("A.h5", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(refused(path()), HasSubstr("A.h5: HDF5 cannot open it"));
}

}  // namespace
}  // namespace fairlead::data
