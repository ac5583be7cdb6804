// The name says whose file it is, the lock whether he still lives.
#include "base/left_over.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/open_in_directory.hpp"

namespace fairlead {

namespace {

constexpr std::string_view suffix = ".new";

}  // namespace

std::string_view name_once_written(std::string_view name) noexcept {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() ||
      name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos)
    return {};
  return name.substr(0, dot);
}

std::filesystem::path name_while_written(const std::filesystem::path& path) {
  auto beside = path;
  beside += fmt::format(".{}{}", ::getpid(), suffix);
  return beside;
}

FileDescriptor make_to_be_renamed(const FileDescriptor& directory, const std::filesystem::path& name) {
  constexpr int attempts = 3;
  for (int i = 1;; ++i) {
    FileDescriptor file = open_file_in(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (!file) {
      if (errno != EEXIST || i == attempts) return file;
      if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) return file;
      continue;
    }
    if (lock_while_written(file) || i == attempts) return file;
  }
}

bool lock_while_written(const FileDescriptor& file) noexcept {
  ::flock(file.get(), LOCK_EX);  // somebody may just look whether it is left over, and take it away
  struct stat state {};
  return ::fstat(file.get(), &state) != 0 || state.st_nlink != 0;
}

void remove_left_over(const std::filesystem::path& directory,
                      const std::function<bool(std::string_view name)>& ours) {
  for (const std::string& name : names_in(directory)) {
    if (!ours(name)) continue;
    const auto path = directory / name;
    const FileDescriptor file = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

}  // namespace fairlead
