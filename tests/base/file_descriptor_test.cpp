// A file that is opened while the standard streams are closed gets none of their numbers.
#include "base/file_descriptor.hpp"
#include "temporary_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

namespace fairlead {
namespace {

/// Closes the standard streams for as long as it lives.
class Closed {
 public:
  Closed() {
    for (int i = 0; i < 3; ++i) {
      kept_[static_cast<std::size_t>(i)] = fcntl(i, F_DUPFD_CLOEXEC, 10);
      close(i);
    }
  }
  ~Closed() {
    for (int i = 0; i < 3; ++i) {
      const int kept = kept_[static_cast<std::size_t>(i)];
      if (kept < 0) continue;
      dup2(kept, i);
      close(kept);
    }
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;

 private:
  std::array<int, 3> kept_{};
};

TEST(FileDescriptors, NeverHaveTheNumberOfAClosedStandardStream) {
  std::vector<int> numbers, low;
  {
    const Closed closed;
    const FileDescriptor file = open_file("/dev/null", O_RDWR), nameless = open_nameless_file("."),
                         socket = open_socket(AF_UNIX, SOCK_STREAM), counter = open_event_counter();
    const auto pipe = open_pipe();
    for (const FileDescriptor* one : {&file, &nameless, &socket, &counter, &pipe[0], &pipe[1]})
      numbers.push_back(one->get());
    for (int i = 0; i < 3; ++i)
      if (fcntl(i, F_GETFD) >= 0) low.push_back(i);
  }
  for (const int number : numbers) EXPECT_GE(number, 3);
  EXPECT_EQ(low, std::vector<int>{});  // no descriptor was left there either
}

TEST(FileDescriptors, AnOpenErrorIsReported) {
  const Closed closed;
  errno = 0;
  EXPECT_FALSE(open_file("no/such/file", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
  errno = 0;
  EXPECT_FALSE(open_nameless_file("no/such/directory"));
  EXPECT_EQ(errno, ENOENT);
}

TEST(FileDescriptors, AWholeFileIsReadWhateverItsReportedSize) {
  const tests::TemporaryDirectory directory;
  const std::string text(100'000, 'x');
  const std::string path = directory.write("file", text);
  EXPECT_EQ(read_file(path), text);
  EXPECT_EQ(read_file(path, 10), text.substr(0, 10));
  std::filesystem::remove(path);
  EXPECT_FALSE(read_file(path));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(read_file("/"));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_GT(read_file("/proc/self/status").value_or("").size(), 100u);  // its size is 0
}

TEST(FileDescriptors, TheNamesOfADirectoryAreRead) {
  const tests::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "names";
  directory.write("names/one", "1");
  EXPECT_EQ(list_directory(path), std::vector<std::string>{"one"});
  std::filesystem::remove_all(path);
  EXPECT_EQ(list_directory(path), std::vector<std::string>{});
}

}  // namespace
// Otherwise the disk would be full for other programs until the reservation fails.
TEST(FileDescriptors, MoreThanTheFreeSpaceIsNotReservedEvenInPart) {
  const FileDescriptor file = open_nameless_file(".");
  ASSERT_TRUE(file);
  struct stat status {};
  for (const std::uint64_t bytes : {std::uint64_t{1} << 44, std::uint64_t{1} << 60}) {
    EXPECT_NE(allocate_space(file.get(), 0, bytes), 0);
    ASSERT_EQ(fstat(file.get(), &status), 0);
    EXPECT_EQ(status.st_size, 0);
    EXPECT_EQ(status.st_blocks, 0);
  }
}

}  // namespace fairlead
