// Writing .npy files: they appear complete or not at all.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fairlead/error.hpp>
#include <thread>
#include <vector>

#include "base/temporary_file.hpp"
#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::HasSubstr;

/// The block in column-major memory with gaps between the columns.
template <class T>
std::vector<T> piece(std::uint64_t row, std::uint64_t rows, std::uint64_t column, std::uint64_t columns,
                     std::uint64_t ld) {
  std::vector<T> in(ld * columns, T(-1));
  for (std::uint64_t j = 0; j < columns; ++j)
    for (std::uint64_t i = 0; i < rows; ++i) in[i + j * ld] = static_cast<T>(element(row + i, column + j));
  return in;
}

template <class T>
void write_in_blocks(NpyWriter& writer, std::uint64_t rows, std::uint64_t columns, std::uint64_t block,
                     std::size_t staging_bytes) {
  std::vector<std::byte> staging(staging_bytes);
  for (std::uint64_t i = 0; i < rows; i += block)
    for (std::uint64_t j = 0; j < columns; j += block) {
      const auto r = std::min(block, rows - i), c = std::min(block, columns - j);
      writer.write_block<T>(i, r, j, c, piece<T>(i, r, j, c, r + 1).data(), r + 1, staging);
    }
}

template <class T>
bool is_whole(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t columns) {
  const NpyFile file(path);
  std::vector<T> out(rows * columns);
  file.read_block<T>(0, rows, 0, columns, out.data(), rows);
  return file.rows() == rows && file.columns() == columns && out == piece<T>(0, rows, 0, columns, rows);
}

TEST(NpyWriting, BlocksAreReadBackAsWritten) {
  const Directory directory;
  for (const auto order : {StorageOrder::c, StorageOrder::fortran})
    for (const std::size_t staging : {0u, 8u, 200u, 10000u})
      for (const std::uint64_t block : {7u, 100u}) {
        NpyWriter doubles(directory / "A.npy", ElementType::float64, order, {30, 40});
        write_in_blocks<double>(doubles, 30, 40, block, staging);
        doubles.commit();
        EXPECT_TRUE(is_whole<double>(directory / "A.npy", 30, 40));
        NpyWriter floats(directory / "B.npy", ElementType::float32, order, {30});
        write_in_blocks<float>(floats, 30, 1, block, staging);
        floats.commit();
        EXPECT_TRUE(is_whole<float>(directory / "B.npy", 30, 1));
      }
}

// The bytes that NumPy 1.24 writes for np.save(f, np.asfortranarray([[0.5, 1.5]])).
TEST(NpyWriting, TheHeaderEqualsNumPys) {
  const Directory directory;
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::fortran, {1, 2});
  writer.write_block<double>(0, 1, 0, 2, piece<double>(0, 1, 0, 2, 1).data(), 1);
  writer.commit();
  std::string text = "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }";
  text.append(128 - 10 - 1 - text.size(), ' ');
  EXPECT_EQ(content(directory / "A.npy"), header(1, text + "\n") + elements("<f8", true, 1, 2));
}

TEST(NpyWriting, ManyThreadsMayWriteAtOnce) {
  const Directory directory;
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::c, {80, 50});
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&writer, t] {
        writer.write_block<double>(20 * t, 20, 0, 50, piece<double>(20 * t, 20, 0, 50, 20).data(), 20);
      });
  }
  writer.commit();
  EXPECT_TRUE(is_whole<double>(directory / "A.npy", 80, 50));
}

TEST(NpyWriting, WithoutCommitNoFileRemains) {
  const Directory directory;
  {
    NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::fortran, {3, 3});
    write_in_blocks<double>(writer, 3, 3, 3, 0);
    EXPECT_FALSE(std::filesystem::exists(directory / "A.npy"));
  }
  EXPECT_EQ(directory.files(), 0u);
}

// As left by SIGKILL. Files that another process is writing stay, as do other files.
TEST(NpyWriting, TheNextOutputRemovesFilesOfAKilledProcess) {
  const Directory directory;
  directory.file(".A.npy.4711-0.partial", "left");
  directory.file(".A.npy.4712-0.partial", "being written");
  directory.file(".B.npy.4711-0.partial", "of another output");
  directory.file(".A.npy.mine.partial", "not ours");
  const FileDescriptor written = open_file(directory / ".A.npy.4712-0.partial", O_WRONLY);
  ASSERT_TRUE(lock_while_written(written));
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::fortran, {3, 3});
  EXPECT_FALSE(std::filesystem::exists(directory / ".A.npy.4711-0.partial"));
  EXPECT_EQ(directory.files(), 3u);
}

TEST(NpyWriting, AnOldFileStaysUntilTheNewOneIsComplete) {
  const Directory directory;
  directory.file("A.npy", "old");
  ::chmod((directory / "A.npy").c_str(), 0640);
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::fortran, {3, 3});
  write_in_blocks<double>(writer, 3, 3, 3, 0);
  EXPECT_EQ(content(directory / "A.npy"), "old");
  writer.commit();
  EXPECT_TRUE(is_whole<double>(directory / "A.npy", 3, 3));
  EXPECT_EQ(directory.files(), 1u);
  struct stat state {};
  ASSERT_EQ(::stat((directory / "A.npy").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 07777, 0640u);
}

TEST(NpyWriting, ALinkIsKeptAndItsTargetReplaced) {
  const Directory directory;
  directory.file("target.npy", "old");
  std::filesystem::create_symlink("target.npy", directory / "link.npy");
  NpyWriter writer(directory / "link.npy", ElementType::float64, StorageOrder::c, {2, 2});
  write_in_blocks<double>(writer, 2, 2, 2, 0);
  writer.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.npy"));
  EXPECT_TRUE(is_whole<double>(directory / "target.npy", 2, 2));
}

TEST(NpyWriting, AFileWithHolesIsNotCommitted) {
  const Directory directory;
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::c, {2, 2});
  writer.write_block<double>(0, 1, 0, 2, piece<double>(0, 1, 0, 2, 1).data(), 1);
  EXPECT_THROW(writer.commit(), UsageError);
  EXPECT_EQ(directory.files(), 0u);
}

std::string error_of(const std::filesystem::path& path, std::vector<std::uint64_t> shape) {
  try {
    NpyWriter writer(path, ElementType::float64, StorageOrder::c, std::move(shape));
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    return error.what();
  }
  return "no error";
}

TEST(NpyWriting, UnwritablePathsAreReportedAtTheStart) {
  const Directory directory;
  EXPECT_THAT(error_of(directory / "missing" / "A.npy", {2}), HasSubstr("No such file or directory"));
  EXPECT_THAT(error_of(directory.path(), {2}), HasSubstr("is a directory"));
  EXPECT_THAT(error_of("/dev/null", {2}), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of("/proc/A.npy", {2}), HasSubstr("/proc"));
}

// As another user if the test runs as root, which may write everywhere.
TEST(NpyWriting, TheErrorNamesAnUnwritableDirectory) {
  const Directory directory;
  ::chmod(directory.path().c_str(), 0555);
  const auto me = ::geteuid();
  if (me == 0) ::setfsuid(65534);
  const auto text = error_of(directory / "A.npy", {2});
  if (me == 0) ::setfsuid(me);
  EXPECT_THAT(text, HasSubstr("Permission denied"));
}

// More space than any disk has; the message states the size.
TEST(NpyWriting, AFullDiskIsReportedAtTheStartWithTheBytesNeeded) {
  const Directory directory;
  EXPECT_THAT(error_of(directory / "A.npy", {1u << 31, 1u << 22}), HasSubstr("72057594037928064 bytes"));
  EXPECT_EQ(directory.files(), 0u);
}

// A limit on the size of files stands for any disk error while writing.
TEST(NpyWriting, AnErrorWhileWritingNamesPathAndBytes) {
  const Directory directory;
  OutputFile file(directory / "A.npy", 0);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string text;
  try {
    file.write(0, std::vector<std::byte>(2000));
  } catch (const SystemError& error) {
    text = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(text, HasSubstr((directory / "A.npy").string()));
  EXPECT_THAT(text, HasSubstr("write 1000 bytes at byte 1000"));
}

TEST(NpyWriting, OtherTypesAndShapesAreRejected) {
  const Directory directory;
  EXPECT_THROW(NpyWriter(directory / "A.npy", ElementType::float64, StorageOrder::c, {0, 2}), UsageError);
  EXPECT_THROW(NpyWriter(directory / "A.npy", ElementType::float64, StorageOrder::c, {1, 2, 3}), UsageError);
  NpyWriter writer(directory / "A.npy", ElementType::float64, StorageOrder::c, {2, 2});
  const std::vector<float> floats(4);
  const std::vector<double> doubles(4);
  EXPECT_THROW(writer.write_block<float>(0, 2, 0, 2, floats.data(), 2), UsageError);
  EXPECT_THROW(writer.write_block<double>(1, 2, 0, 2, doubles.data(), 2), UsageError);
}

}  // namespace
}  // namespace fairlead::data
