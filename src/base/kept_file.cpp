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
#include <system_error>

#include "base/left_over.hpp"

namespace fairlead {

namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;  // bytes; ours are far smaller

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw SystemError(fmt::format("cannot {} \"{}\": {}", what, path.string(), std::strerror(error)));
}

/// The whole file. Errors as errno; 0: it has been read.
int read_whole(const std::filesystem::path& path, std::string& text) {
  // Not blocking: somebody may have put a pipe there.
  const FileDescriptor file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return errno;
  struct stat state {};
  int error = ::fstat(file.get(), &state) != 0 ? errno : 0;
  if (error == 0 && S_ISDIR(state.st_mode)) error = EISDIR;
  if (error == 0 && (!S_ISREG(state.st_mode) || static_cast<std::size_t>(state.st_size) > largest_file))
    error = EFBIG;
  if (error == 0) text.resize(static_cast<std::size_t>(state.st_size));
  for (std::size_t done = 0; error == 0 && done < text.size();) {
    const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (count == 0)
      text.resize(done);
    else if (errno != EINTR)
      error = errno;
  }
  return error;
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
  if (const int error = read_whole(path_, text); error != 0) {
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

  const auto beside = name_while_written(path_);
  FileDescriptor file = make_to_be_renamed(beside);
  const bool made = bool(file);
  int error = made ? 0 : errno;
  for (std::size_t done = 0; error == 0 && done < text.size();) {
    const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count >= 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      error = errno;
  }
  if (const int late = file.close(); error == 0) error = late;
  if (error == 0 && ::rename(beside.c_str(), path_.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (made) ::unlink(beside.c_str());
  fail("write", path_, error);
}

KeptFile::Lock::Lock(const KeptFile& file) {
  const auto directory = file.path_.parent_path();
  if (const int error = make_own_directory(directory); error != 0)
    fail("make the directory", directory, error);
  auto path = file.path_;
  path.replace_extension(".lock");
  file_ = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!file_) fail("write to", path, errno);
  while (::flock(file_.get(), LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks: the file is replaced whole all the same
  remove_left_over(directory, [&](std::string_view name) {
    return name_once_written(name) == file.path_.filename().native();
  });
}

}  // namespace fairlead
