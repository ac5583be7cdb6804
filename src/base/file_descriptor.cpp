// Opens descriptors; numbers below 3 are moved up at once.
#include "base/file_descriptor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string_view>

#include "base/full_transfer.hpp"
#include "base/interruptions.hpp"
#include "base/open_in_directory.hpp"

namespace fairlead {

namespace {

constexpr int first_of_ours = 3;

/// Duplicates a number below 3 to a higher one. Closes it if none is free.
FileDescriptor moved_up(int number) noexcept {
  if (number < 0 || number >= first_of_ours) return FileDescriptor(number);
  const FileDescriptor low(number);
  return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, first_of_ours));
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  const int before = errno;
  close();
  errno = before;
}

int FileDescriptor::close() noexcept {
  const int number = release();
  return number >= 0 && ::close(number) != 0 ? errno : 0;
}

FileDescriptor open_file(const std::filesystem::path& path, int flags, mode_t mode) noexcept {
  int number = -1;
  Interruptions interruptions;
  do number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (number < 0 && interruptions.retry());  // a network file system may wait, and be interrupted
  return moved_up(number);
}

FileDescriptor open_file_in(const FileDescriptor& directory, const std::filesystem::path& name, int flags,
                            mode_t mode) noexcept {
  int number = -1;
  Interruptions interruptions;
  do number = ::openat(directory.get(), name.c_str(), flags | O_CLOEXEC, mode);
  while (number < 0 && interruptions.retry());
  return moved_up(number);
}

FileDescriptor open_nameless_file(const std::string& directory, int flags) {
  if (auto file = open_file(directory, O_TMPFILE | O_RDWR | flags, 0600);
      file || (errno != EOPNOTSUPP && errno != EISDIR && (errno != EINVAL || flags != 0)))
    return file;
  std::string path = directory + "/.fairlead-XXXXXX";
  auto file = moved_up(::mkostemp(path.data(), O_CLOEXEC | flags));
  if (file) ::unlink(path.c_str());
  return file;
}

FileDescriptor open_socket(int domain, int type) noexcept {
  return moved_up(::socket(domain, type | SOCK_CLOEXEC, 0));
}

FileDescriptor accept_connection(const FileDescriptor& listening) noexcept {
  return moved_up(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

FileDescriptor duplicate(const FileDescriptor& file) noexcept {
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
}

FileDescriptor open_event_counter() noexcept { return moved_up(::eventfd(0, EFD_CLOEXEC)); }

FileDescriptor open_process(pid_t process) noexcept {
  return moved_up(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

std::array<FileDescriptor, 2> open_pipe() noexcept {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  std::array<FileDescriptor, 2> moved{moved_up(ends[0]), moved_up(ends[1])};
  if (!moved[0] || !moved[1]) return {};
  return moved;
}

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  const FileDescriptor file = open_file(path, O_RDONLY);
  if (!file) return {};
  std::string text;
  struct stat found {};
  // The file size is only a hint: files in /proc and /sys report 0.
  constexpr std::size_t least = 4096;
  if (::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode))
    text.resize(std::min(most, static_cast<std::size_t>(found.st_size) + 1));
  for (std::size_t done = 0;;) {
    if (done == text.size()) text.resize(std::min(most, std::max(least, 2 * done)));
    const FullTransferResult read =
        read_fully(file.get(), std::as_writable_bytes(std::span(text).subspan(done)));
    if (read.error != 0) {
      errno = read.error;
      return {};
    }
    done += read.bytes;
    if (done == text.size() && done < most) continue;
    text.resize(done);
    return text;
  }
}

std::vector<std::string> list_directory(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  FileDescriptor opened = open_file(directory, O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opened ? ::fdopendir(opened.get()) : nullptr, ::closedir);
  if (!entries) return names;
  opened.release();
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

int allocate_space(int descriptor, std::uint64_t from, std::uint64_t to) noexcept {
  // Checked beforehand: fallocate would fill the disk, at the expense of other programs, before it fails.
  struct statvfs disk {};
  if (::fstatvfs(descriptor, &disk) == 0 && disk.f_blocks != 0 && from < to &&
      (to - from) / disk.f_frsize > disk.f_bavail)
    return ENOSPC;
  // In parts: some file systems restart from scratch after a signal, and frequent signals would keep them from
  // completing.
  constexpr std::uint64_t part = std::uint64_t{1} << 28;
  Interruptions interruptions;
  while (from < to) {
    const std::uint64_t bytes = std::min(part, to - from);
    if (::fallocate(descriptor, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)) == 0) {
      from += bytes;
      interruptions.end();
    } else if (!interruptions.retry()) {
      return errno;
    }
  }
  return 0;
}

bool is_removed_directory(const std::filesystem::path& path) noexcept {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_nlink == 0;
}

}  // namespace fairlead
