// Owning file descriptors, and the only place where files, sockets and pipes are opened. No descriptor is below 3:
// those numbers belong to the standard streams, even if closed, and a file with one of them would receive the
// program's messages (tests/repository/test_descriptors.py).
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

/// Closes itself. Functions that open one return an empty descriptor on failure, with the reason in errno.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  /// Preserves errno.
  ~FileDescriptor();

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// Returns 0, or the errno of an error that the system reports only now.
  int close() noexcept;
  /// The caller closes it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// As ::open, with O_CLOEXEC.
FileDescriptor open_file(const std::filesystem::path& path, int flags, mode_t mode = 0666) noexcept;
/// A file for reading and writing that disappears when closed: unnamed, or, if the file system lacks O_TMPFILE, named
/// and unlinked at once. `flags`: additional ones, such as O_DIRECT.
FileDescriptor open_nameless_file(const std::string& directory, int flags = 0);
/// Another descriptor for the same open file.
FileDescriptor duplicate(const FileDescriptor& file) noexcept;
/// As ::socket and ::accept, with O_CLOEXEC set.
FileDescriptor open_socket(int domain, int type) noexcept;
FileDescriptor accept_connection(const FileDescriptor& listening) noexcept;
/// A counter that poll() can wait for (eventfd).
FileDescriptor open_event_counter() noexcept;
/// Refers to that process while open (pidfd, Linux 5.3).
FileDescriptor open_process(pid_t process) noexcept;
/// Read end, write end; both empty on failure.
std::array<FileDescriptor, 2> open_pipe() noexcept;

/// True if the directory was removed while a process has it as its current directory. It still exists but accepts no
/// files, and the system's error is misleading ("operation not permitted").
bool is_removed_directory(const std::filesystem::path& path) noexcept;

/// The content of any kind of file, at most `most` bytes. Nothing, with errno, if it cannot be read; EISDIR for a
/// directory.
std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most = ~std::size_t{0});

/// The entries of a directory, unordered; empty if it cannot be read.
std::vector<std::string> list_directory(const std::filesystem::path& directory);

/// Allocates disk space for the bytes [from, to). Returns 0 or the errno: EOPNOTSUPP or ENOSYS if the file system
/// cannot allocate. Signals do not abort it.
int allocate_space(int descriptor, std::uint64_t from, std::uint64_t to) noexcept;

}  // namespace fairlead
