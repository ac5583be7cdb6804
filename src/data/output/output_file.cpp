// Uses O_TMPFILE and linkat, or, if the file system lacks unnamed files, a temporary name in the same directory.
// linkat does not replace a file, so an existing one is replaced by linking to a temporary name and renaming.
#include "data/output/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fairlead/error.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/full_transfer.hpp"
#include "base/signals_blocked.hpp"
#include "base/temporary_file.hpp"

namespace fairlead::data {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw SystemError(fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(error)));
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// The final target of the symbolic links at `path`, which need not exist. Throws SystemError if the links form a
/// cycle.
std::filesystem::path end_of_links(const std::filesystem::path& path) {
  constexpr int most = 40;  // as in the kernel
  std::filesystem::path at = path;
  std::error_code error;
  for (int followed = 0; std::filesystem::is_symlink(at, error); ++followed) {
    if (followed == most) fail(path, "be written: it is a link", ELOOP);
    const auto target = std::filesystem::read_symlink(at, error);
    if (error) fail(path, "be followed as a link", error.value());
    at = target.is_absolute() ? target : directory_of(at) / target;
  }
  return at;
}

void require_directory(const std::filesystem::path& path) {
  const auto directory = directory_of(path);
  if (is_removed_directory(directory))
    throw SystemError(fmt::format("{}: cannot be written: the directory \"{}\" has been removed",
                                  path.string(), directory.string()));
}

/// Whether the name is one that with_free_name() made for `path`, in any process.
bool is_partial_of(const std::filesystem::path& path, std::string_view name) {
  const std::string begin = fmt::format(".{}.", path.filename().string());
  constexpr std::string_view end = ".partial";
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size())
    return false;
  name = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return name.find_first_not_of("0123456789-") == std::string_view::npos;
}

/// Calls `make` with temporary names in the directory of `path` until one is free; `make` returns 0 or sets errno.
template <class Make>
std::filesystem::path with_free_name(const std::filesystem::path& path, Make make) {
  for (int attempt = 0;; ++attempt) {
    auto name =
        directory_of(path) / fmt::format(".{}.{}-{}.partial", path.filename().string(), ::getpid(), attempt);
    if (make(name.c_str()) == 0) return name;
    if (errno != EEXIST || attempt == 1000) fail(path, "make a file next to it", errno);
  }
}

/// Checks now what would make the final rename fail: a file that may not be changed or removed.
void require_replaceable(const std::filesystem::path& path, const struct stat& old) {
  const auto refuse = [&](const std::string& why) {
    throw SystemError(fmt::format("{}: cannot be replaced: {}", path.string(), why));
  };
  const auto has = [](const std::filesystem::path& of, std::uint64_t attribute) {
    struct statx found {};
    return ::statx(AT_FDCWD, of.c_str(), 0, STATX_BASIC_STATS, &found) == 0 &&
           (found.stx_attributes & attribute) != 0;
  };
  const auto directory = directory_of(path);
  if (has(path, STATX_ATTR_IMMUTABLE)) refuse("it is marked as immutable (chattr -i makes it changeable)");
  if (has(path, STATX_ATTR_APPEND) || has(directory, STATX_ATTR_APPEND))
    refuse("it, or its directory, may only grow (chattr -a makes it changeable)");
  if (has(path, STATX_ATTR_MOUNT_ROOT)) refuse("another file is mounted in its place");
  struct stat above {};
  const uid_t self = ::geteuid();
  if (self != 0 && ::stat(directory.c_str(), &above) == 0 && (above.st_mode & S_ISVTX) != 0 &&
      above.st_uid != self && old.st_uid != self)
    refuse(fmt::format(
        "it belongs to another user, and in the directory \"{}\" only the owner of a file may remove it",
        directory.string()));
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, Bytes bytes) : path_(path) {
  if (path == "-")
    throw SystemError(
        "-: cannot be written: the file must have a name, standard output is not written to. A file of that "
        "name "
        "is ./-");
  path_ = end_of_links(path);
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    throw SystemError(fmt::format("{}: cannot be written: it is {}", path_.string(),
                                  S_ISDIR(old.st_mode) ? "a directory" : "not a regular file"));
  if (path_.filename().empty())
    throw SystemError(fmt::format("{}: cannot be written: this names a directory", path_.string()));
  require_directory(path_);
  if (exists) require_replaceable(path_, old);
  remove_stale(directory_of(path_), [this](std::string_view name) { return is_partial_of(path_, name); });
  open_unnamed();
  if (exists) ::fchmod(file_.get(), old.st_mode & 07777);
  const int reason = allocate_space(file_.get(), 0, bytes);
  if (reason != 0 && reason != EOPNOTSUPP && reason != ENOSYS) {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    fail(path_, fmt::format("set {} bytes aside for it", bytes), reason);
  }
}

OutputFile::~OutputFile() {
  if (file_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_unnamed() {
  file_ = open_file(directory_of(path_), O_TMPFILE | O_WRONLY);
  if (file_) {
    lock_while_written(file_);
    return;
  }
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    fail(path_, fmt::format("make a file in the directory \"{}\"", directory_of(path_).string()), errno);
  temporary_ = with_free_name(path_, [&](const char* name) {
    file_ = open_file(name, O_CREAT | O_EXCL | O_WRONLY);
    if (!file_) return -1;
    if (lock_while_written(file_)) return 0;
    errno = EEXIST;
    return -1;
  });
}

void OutputFile::write(Bytes offset, std::span<const std::byte> content) {
  const FullTransferResult written = write_fully_at(file_.get(), offset, content);
  if (written.bytes < content.size())
    fail(path_,
         fmt::format("write {} bytes at byte {}", content.size() - written.bytes, offset + written.bytes),
         written.error != 0 ? written.error : ENOSPC);
}

void OutputFile::commit() {
  OutputFile* const alone[] = {this};
  commit_together(alone);
}

void OutputFile::flush() {
  if (::fsync(file_.get()) != 0) fail(path_, "flush it to the disk", errno);
}

void OutputFile::give_name() {
  if (temporary_.empty()) {
    const auto self = fmt::format("/proc/self/fd/{}", file_.get());
    const auto link = [&](const char* name) {
      return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    };
    if (link(path_.c_str()) != 0) {
      if (errno != EEXIST) fail(path_, "give the complete file its name", errno);
      temporary_ = with_free_name(path_, link);
    }
  }
  if (!temporary_.empty()) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      fail(path_, "give the complete file its name", errno);
    temporary_.clear();
  }
  file_ = FileDescriptor();
}

void OutputFile::commit_together(std::span<OutputFile* const> files) {
  for (OutputFile* const file : files) file->flush();
  // No allocation after a file has its name: if it failed, the file would exist although commit reports an error.
  std::vector<std::filesystem::path> directories;
  for (const OutputFile* const file : files) directories.push_back(directory_of(file->path_));
  {
    const SignalsBlocked blocked;
    for (OutputFile* const file : files) file->give_name();
  }
  // Flushes the directories, so that the names survive a power failure. A directory that cannot be opened is no
  // error.
  for (const std::filesystem::path& above : directories) {
    const FileDescriptor directory = open_file(above, O_RDONLY | O_DIRECTORY);
    if (directory) ::fsync(directory.get());
  }
}

}  // namespace fairlead::data
