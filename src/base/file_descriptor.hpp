// Files, sockets and pipes, and the one place where they are opened: none of them ever has a number below 3.
// Those numbers are the standard streams', even while they are closed: a file that got one would be written
// to by whoever says something (tests/repository/test_descriptors.py).
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {

/// Closes itself. What opens says by an empty one that it failed, and why in errno.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  /// errno stays as it is.
  ~FileDescriptor();

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// 0, or the errno of what the system noticed only now.
  int close() noexcept;
  /// Somebody else closes it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// As ::open, and closed when another program is started.
FileDescriptor open_file(const std::filesystem::path& path, int flags, mode_t mode = 0666) noexcept;
/// To be read and written, and gone when it is closed: without a name, or, where the file system has no such
/// files, with one that is removed at once. `flags`: further ones, as O_DIRECT.
FileDescriptor open_nameless_file(const std::string& directory, int flags = 0);
/// Another number for the same opened file.
FileDescriptor duplicate(const FileDescriptor& file) noexcept;
FileDescriptor open_socket(int domain, int type) noexcept;
FileDescriptor accept_connection(const FileDescriptor& listening) noexcept;
/// A counter that can be waited for: eventfd.
FileDescriptor open_event_counter() noexcept;
/// Names that process as long as it is open (pidfd, Linux 5.3).
FileDescriptor open_process(pid_t process) noexcept;
/// What is written into the second comes out of the first; both empty if it failed.
std::array<FileDescriptor, 2> open_pipe() noexcept;

/// Whether it was removed while a process is in it: it is there, and takes no files, and the system then reports that the
/// operation is not permitted.
bool is_removed_directory(const std::filesystem::path& path) noexcept;

/// The whole of a file, whatever it is, up to `most` bytes of it. Nothing and errno if it cannot be read; of
/// a directory, EISDIR.
std::optional<std::string> whole_file(const std::filesystem::path& path, std::size_t most = ~std::size_t{0});

/// What is in a directory, in no order; nothing if it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& directory);

/// Sets the bytes from `from` up to `to` aside on the disk. 0, or the errno: EOPNOTSUPP or ENOSYS if the
/// file system cannot. Signals that come meanwhile do not end it.
int set_aside(int descriptor, std::uint64_t from, std::uint64_t to) noexcept;

}  // namespace fairlead
