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

namespace fairlead {

namespace {

constexpr std::size_t largest = std::size_t{64} << 20;  // bytes; ours are far smaller

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw SystemError(fmt::format("cannot {} \"{}\": {}", what, path.string(), std::strerror(error)));
}

/// The whole file. Errors as errno; 0: it has been read.
int read_whole(const std::filesystem::path& path, std::string& text) {
  // Not blocking: somebody may have put a pipe there.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return errno;
  struct stat state {};
  int error = ::fstat(descriptor, &state) != 0 ? errno : 0;
  if (error == 0 && S_ISDIR(state.st_mode)) error = EISDIR;
  if (error == 0 && (!S_ISREG(state.st_mode) || static_cast<std::size_t>(state.st_size) > largest))
    error = EFBIG;
  if (error == 0) text.resize(static_cast<std::size_t>(state.st_size));
  for (std::size_t done = 0; error == 0 && done < text.size();) {
    const ssize_t count = ::read(descriptor, text.data() + done, text.size() - done);
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (count == 0)
      text.resize(done);
    else if (errno != EINTR)
      error = errno;
  }
  ::close(descriptor);
  return error;
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

  auto beside = path_;
  beside += fmt::format(".{}.new", ::getpid());
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = descriptor < 0 ? errno : 0;
  for (std::size_t done = 0; error == 0 && done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count >= 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      error = errno;
  }
  if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path_.c_str()) != 0) error = errno;
  if (error == 0) return;
  if (descriptor >= 0) ::unlink(beside.c_str());
  fail("write", path_, error);
}

KeptFile::Lock::Lock(const KeptFile& file) {
  std::error_code error;
  std::filesystem::create_directories(file.path_.parent_path(), error);
  if (error) fail("make the directory", file.path_.parent_path(), error.value());
  auto path = file.path_;
  path.replace_extension(".lock");
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("write to", path, errno);
  while (::flock(descriptor_, LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks: the file is replaced whole all the same
}

KeptFile::Lock::~Lock() { ::close(descriptor_); }

}  // namespace fairlead
