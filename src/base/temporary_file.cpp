// The file name contains the writer's process id; the lock shows whether that process is still alive.
#include "base/temporary_file.hpp"

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

std::string_view final_name(std::string_view name) noexcept {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() ||
      name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos)
    return {};
  return name.substr(0, dot);
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  auto temporary = path;
  temporary += fmt::format(".{}{}", ::getpid(), suffix);
  return temporary;
}

FileDescriptor make_temporary(const FileDescriptor& directory, const std::filesystem::path& name) {
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
  ::flock(file.get(), LOCK_EX);  // another process may be removing it as a leftover
  struct stat state {};
  return ::fstat(file.get(), &state) != 0 || state.st_nlink != 0;
}

void remove_stale(const std::filesystem::path& directory,
                  const std::function<bool(std::string_view name)>& ours) {
  for (const std::string& name : list_directory(directory)) {
    if (!ours(name)) continue;
    const auto path = directory / name;
    const FileDescriptor file = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

}  // namespace fairlead
