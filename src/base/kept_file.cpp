// Reading with suspicion, writing whole.
#include "base/kept_file.hpp"

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
#include "base/left_over.hpp"
#include "base/open_in_directory.hpp"

namespace fairlead {

namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;  // bytes; ours are far smaller

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw SystemError(fmt::format("cannot {} \"{}\": {}", what, path.string(), std::strerror(error)));
}

/// Why others could change what the descriptor names, as the end of a sentence about it; empty if they cannot.
std::string doubt_about(const struct stat& state, uid_t self = ::geteuid()) {
  if (state.st_uid != self && state.st_uid != 0)
    return fmt::format("is owned by user {}, not by user {} who runs this program", state.st_uid, self);
  if ((state.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("can be written by other users (mode {:04o}; chmod go-w makes it usable)",
                       state.st_mode & 07777);
  return {};
}

/// The directory of a kept file, opened and looked at: what is opened in it is in that one, whatever its path leads to
/// meanwhile.
struct Directory {
  explicit Directory(const std::filesystem::path& path)
      : opened(open_file(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY)) {
    struct stat state {};
    if (!opened || ::fstat(opened.get(), &state) != 0)
      error = errno;
    else
      doubt = doubt_about(state);
  }
  FileDescriptor opened;
  int error = 0;
  std::string doubt;
};

[[noreturn]] void refuse(const std::filesystem::path& directory, const std::string& doubt) {
  throw SystemError(fmt::format("the directory \"{}\" {}", directory.string(), doubt));
}

/// The whole file. Errors as errno; 0: it has been read, or `doubt` says why it may not be.
int read_whole(const Directory& directory, const std::filesystem::path& name, std::string& text,
               std::string& doubt) {
  // Not blocking: somebody may have put a pipe there.
  const FileDescriptor file = open_file_in(directory.opened, name, O_RDONLY | O_NONBLOCK);
  if (!file) return errno;
  struct stat state {};
  int error = ::fstat(file.get(), &state) != 0 ? errno : 0;
  if (error == 0) doubt = doubt_about(state);
  if (!doubt.empty()) return error;
  if (error == 0 && S_ISDIR(state.st_mode)) error = EISDIR;
  if (error == 0 && (!S_ISREG(state.st_mode) || static_cast<std::size_t>(state.st_size) > largest_file))
    error = EFBIG;
  if (error == 0) text.resize(static_cast<std::size_t>(state.st_size));
  if (error != 0) return error;
  const Transferred read = read_fully(file.get(), std::as_writable_bytes(std::span(text)));
  text.resize(read.bytes);
  return read.error;
}

/// What is missing of it, for its owner alone. 0, or the errno.
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

KeptFile::Content KeptFile::read() const {
  Content content;
  std::string text;
  const Directory directory(path_.parent_path());
  if (!directory.doubt.empty()) {
    content.of_newer_version = true;  // it is left alone in the same way
    content.problem = fmt::format("is in a directory that {}", directory.doubt);
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
    content.problem = "is none of Fairlead's";
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
    content.problem = "is damaged: what it says does not agree with the checksum at its end";
    return content;
  }
  for (std::size_t begin = first_end + 1; begin < check + 1;) {
    const std::size_t end = text.find('\n', begin);
    content.lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return content;
}

void KeptFile::replace(const std::vector<std::string>& lines) const {
  std::string text = fmt::format("{}\t{}\t{}\n", format_.name, format_.version, format_.explanation);
  for (const auto& line : lines) text += line + "\n";
  text += fmt::format("check\t{:016x}\n", text_hash(text));

  const Directory directory(path_.parent_path());
  if (directory.error != 0) fail("write", path_, directory.error);
  if (!directory.doubt.empty()) refuse(path_.parent_path(), directory.doubt);
  const auto name = path_.filename(), beside = name_while_written(name);
  FileDescriptor file = make_to_be_renamed(directory.opened, beside);
  const bool made = bool(file);
  int error = made ? 0 : errno;
  if (error == 0) {
    const Transferred written = write_fully(file.get(), std::as_bytes(std::span(text)));
    error = written.error != 0 || written.bytes == text.size() ? written.error : ENOSPC;
  }
  if (const int late = file.close(); error == 0) error = late;
  if (error == 0 &&
      ::renameat(directory.opened.get(), beside.c_str(), directory.opened.get(), name.c_str()) != 0)
    error = errno;
  if (error == 0) return;
  if (made) ::unlinkat(directory.opened.get(), beside.c_str(), 0);
  fail("write", path_, error);
}

KeptFile::Lock::Lock(const KeptFile& file) {
  const auto directory = file.path_.parent_path();
  if (const int error = make_own_directory(directory); error != 0)
    fail("make the directory", directory, error);
  const Directory opened(directory);
  if (opened.error != 0) fail("open the directory", directory, opened.error);
  if (!opened.doubt.empty()) refuse(directory, opened.doubt);
  auto path = file.path_;
  path.replace_extension(".lock");
  file_ = open_file_in(opened.opened, path.filename(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file_) fail("write to", path, errno);
  while (::flock(file_.get(), LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks: the file is replaced whole all the same
  remove_left_over(directory, [&](std::string_view name) {
    return name_once_written(name) == file.path_.filename().native();
  });
}

}  // namespace fairlead
