// Reads with ownership, version and checksum checks; writes a new file and renames it.
#include "base/shared_file.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <system_error>

#include "base/full_transfer.hpp"
#include "base/open_in_directory.hpp"
#include "base/temporary_file.hpp"

namespace fairlead {

namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;  // bytes; the actual files are far smaller

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw SystemError(fmt::format("cannot {} \"{}\": {}", what, path.string(), std::strerror(error)));
}

/// Why other users could change the file of this state, as the end of a sentence about it; empty if they cannot.
std::string doubt_about(const struct stat& state, uid_t self = ::geteuid()) {
  if (state.st_uid != self && state.st_uid != 0)
    return fmt::format("is owned by user {}, not by user {} who runs this program", state.st_uid, self);
  if ((state.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("can be written by other users (mode {:04o}; chmod go-w makes it usable)",
                       state.st_mode & 07777);
  return {};
}

/// The directory of a kept file, opened and checked. Files opened relative to it are in this directory, even if the
/// path leads elsewhere by then.
struct Directory {
  explicit Directory(const std::filesystem::path& path)
      : opened(open_file(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY)) {
    struct stat state {};
    if (!opened || ::fstat(opened.get(), &state) != 0)
      error = errno;
    else
      problem = doubt_about(state);
  }
  FileDescriptor opened;
  int error = 0;
  std::string problem;
};

[[noreturn]] void refuse(const std::filesystem::path& directory, const std::string& problem) {
  throw SystemError(fmt::format("the directory \"{}\" {}", directory.string(), problem));
}

/// Reads the whole file. Returns an errno; 0: it was read, or `doubt` gives the reason not to use it.
int read_whole(const Directory& directory, const std::filesystem::path& name, std::string& text,
               std::string& problem) {
  // O_NONBLOCK: the file may be a pipe.
  const FileDescriptor file = open_file_in(directory.opened, name, O_RDONLY | O_NONBLOCK);
  if (!file) return errno;
  struct stat state {};
  int error = ::fstat(file.get(), &state) != 0 ? errno : 0;
  if (error == 0) problem = doubt_about(state);
  if (!problem.empty()) return error;
  if (error == 0 && S_ISDIR(state.st_mode)) error = EISDIR;
  if (error == 0 && (!S_ISREG(state.st_mode) || static_cast<std::size_t>(state.st_size) > largest_file))
    error = EFBIG;
  if (error == 0) text.resize(static_cast<std::size_t>(state.st_size));
  if (error != 0) return error;
  const FullTransferResult read = read_fully(file.get(), std::as_writable_bytes(std::span(text)));
  text.resize(read.bytes);
  return read.error;
}

/// Makes the missing directories with mode 0700. Returns 0 or the errno.
int make_own_directory(const std::filesystem::path& directory) {
  if (directory.empty() || ::mkdir(directory.c_str(), 0700) == 0) return 0;
  if (errno == ENOENT) {
    if (const int error = make_own_directory(directory.parent_path()); error != 0) return error;
    if (::mkdir(directory.c_str(), 0700) == 0) return 0;
  }
  const int error = errno;
  std::error_code ignored;
  return std::filesystem::is_directory(directory, ignored) ? 0 : error == EEXIST ? ENOTDIR : error;
}

}  // namespace

std::string one_field(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = line.find('\t', begin);
    fields.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return fields;
}

std::string why_unsafe(const std::filesystem::path& directory) { return Directory(directory).problem; }

void SharedFile::make_directory() const {
  const auto directory = path_.parent_path();
  if (const int error = make_own_directory(directory); error != 0)
    fail("make the directory", directory, error);
}

SharedFile::Content SharedFile::read() const {
  Content content;
  std::string text;
  const Directory directory(path_.parent_path());
  if (!directory.problem.empty()) {
    content.of_newer_version = true;  // so the caller does not replace the file
    content.problem = fmt::format("is in a directory that {}", directory.problem);
    return content;
  }
  const int error =
      directory.error != 0 ? directory.error : read_whole(directory, path_.filename(), text, content.problem);
  if (error == 0 && !content.problem.empty()) return content;
  if (error != 0) {
    if (error != ENOENT && error != ENOTDIR)
      content.problem = fmt::format("cannot be read: {}", std::strerror(error));
    return content;
  }
  const auto first_end = text.find('\n');
  const auto first = fields_of(text.substr(0, first_end));
  unsigned version = 0;
  if (first[0] != format_.name || first.size() < 2 ||
      std::from_chars(first[1].data(), first[1].data() + first[1].size(), version).ec != std::errc()) {
    content.problem = "is not a file of Fairlead";
    return content;
  }
  content.version = version;
  if (version > format_.version || version < std::min(format_.version, format_.oldest_version)) {
    content.of_newer_version = version > format_.version;
    content.problem =
        fmt::format("is of version {}, while this program has version {}", version, format_.version);
    return content;
  }
  const auto check = text.rfind("\ncheck\t");
  if (first_end == std::string::npos || check == std::string::npos ||
      text.substr(check + 1) != fmt::format("check\t{:016x}\n", text_hash({text.data(), check + 1}))) {
    content.problem = "is damaged: its contents do not match the checksum at its end";
    return content;
  }
  for (std::size_t begin = first_end + 1; begin < check + 1;) {
    const std::size_t end = text.find('\n', begin);
    content.lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return content;
}

void SharedFile::replace(const std::vector<std::string>& lines) const {
  std::string text = fmt::format("{}\t{}\t{}\n", format_.name, format_.version, format_.explanation);
  for (const auto& line : lines) text += line + "\n";
  text += fmt::format("check\t{:016x}\n", text_hash(text));

  const Directory directory(path_.parent_path());
  if (directory.error != 0) fail("write", path_, directory.error);
  if (!directory.problem.empty()) refuse(path_.parent_path(), directory.problem);
  const auto name = path_.filename(), while_written = temporary_name(name);
  FileDescriptor file = make_temporary(directory.opened, while_written);
  const bool made = bool(file);
  int error = made ? 0 : errno;
  if (error == 0) {
    const FullTransferResult written = write_fully(file.get(), std::as_bytes(std::span(text)));
    error = written.error != 0 || written.bytes == text.size() ? written.error : ENOSPC;
  }
  if (const int late = file.close(); error == 0) error = late;
  if (error == 0 &&
      ::renameat(directory.opened.get(), while_written.c_str(), directory.opened.get(), name.c_str()) != 0)
    error = errno;
  if (error == 0) return;
  if (made) ::unlinkat(directory.opened.get(), while_written.c_str(), 0);
  fail("write", path_, error);
}

SharedFile::Lock::Lock(const SharedFile& file) {
  file.make_directory();
  const auto directory = file.path_.parent_path();
  const Directory opened(directory);
  if (opened.error != 0) fail("open the directory", directory, opened.error);
  if (!opened.problem.empty()) refuse(directory, opened.problem);
  auto path = file.path_;
  path.replace_extension(".lock");
  file_ = open_file_in(opened.opened, path.filename(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file_) fail("write to", path, errno);
  while (::flock(file_.get(), LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks: the file is still replaced atomically
  remove_stale(directory,
               [&](std::string_view name) { return final_name(name) == file.path_.filename().native(); });
}

}  // namespace fairlead
