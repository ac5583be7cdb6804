// See c_compiler.hpp.
#include "front/jdf_c/c_compiler.hpp"

#include <fairlead/error.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/child_process.hpp"
#include "base/file_descriptor.hpp"
#include "base/full_transfer.hpp"
#include "front/jdf_c/c_headers.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::size_t max_output = 8000;
constexpr std::string_view folder_prefix = "fairlead-compiler-";
constexpr std::string_view new_folder_prefix = "fairlead-new-compiler-";

std::string first_lines_of(const std::string& text) {
  return text.size() <= max_output ? text : text.substr(0, max_output) + "\n...\n";
}

/// Locks a directory of the current user. Returns nothing if it has another owner, is not a directory, or is
/// locked.
FileDescriptor locked_folder(const std::filesystem::path& path) {
  FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) return {};
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(folder) : FileDescriptor();
}

/// Whether all that the directory contains may be a compiler's: users may have given such a name to directories of
/// their own.
bool has_only_compiler_files(const std::filesystem::path& folder) {
  return std::ranges::all_of(list_directory(folder), [](const std::string& name) {
    return name == "include" || name.starts_with("code.");
  });
}

/// Removes the directories of killed processes.
void remove_stale_folders(const std::filesystem::path& temporary) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (const std::string& name : list_directory(temporary)) {
    if (name.starts_with(folder_prefix)) found.push_back(temporary / name);
    // Either its process was killed before locking it, or is about to rename it, and then creates another one.
    if (name.starts_with(new_folder_prefix)) ::rmdir((temporary / name).c_str());
  }
  for (const std::filesystem::path& path : found)
    if (const FileDescriptor lock = locked_folder(path); lock && has_only_compiler_files(path))
      std::filesystem::remove_all(path, error);
}

/// The text without this prefix.
std::string after(const std::string& text, std::string_view prefix) { return text.substr(prefix.size()); }

}  // namespace

void* SharedObject::symbol(const std::string& name) const noexcept { return ::dlsym(handle_, name.c_str()); }

CCompiler::CCompiler(std::string command) : command_(std::move(command)) {
  make_folder();
  folders_.push_back(folder_);
  code_ = folder_ / "code.c";
  object_ = folder_ / "code.so";
  files_ = {code_, object_};
  std::error_code error;
  try {
    write_headers();
  } catch (...) {
    std::filesystem::remove_all(folder_, error);
    throw;
  }
}

/// Creates and locks the directory, then renames it: other processes look only for the final name, so that an unlocked
/// directory is not in use.
void CCompiler::make_folder() {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (!error) remove_stale_folders(temporary);
  std::string pattern;
  int failed = 0;
  for (int attempt = 0; !error && attempt < 100; ++attempt) {
    pattern = (temporary / (std::string(new_folder_prefix) + "XXXXXX")).string();
    failed = 0;
    if (::mkdtemp(pattern.data()) == nullptr) {
      failed = errno;
      break;
    }
    folder_ = temporary / (std::string(folder_prefix) +
                           after(std::filesystem::path(pattern).filename().string(), new_folder_prefix));
    lock_ = locked_folder(pattern);
    if (::rename(pattern.c_str(), folder_.c_str()) == 0) return;
    failed = errno;
    ::rmdir(pattern.c_str());
    if (failed != ENOENT && failed != EEXIST && failed != ENOTEMPTY) break;
  }
  throw SystemError(fmt::format("cannot create a folder for compiled code: {}: {}", pattern,
                                error ? error.message() : std::strerror(failed)));
}

CCompiler::~CCompiler() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::vector<std::filesystem::path> CCompiler::temporaries() const {
  std::vector<std::filesystem::path> out = files_;
  out.insert(out.end(), folders_.rbegin(), folders_.rend());
  return out;
}

void CCompiler::write(const std::filesystem::path& path, std::string_view text) {
  for (std::filesystem::path above = path.parent_path();
       std::ranges::find(folders_, above) == folders_.end();) {
    // From the top, so that the list has each directory after its parent.
    std::filesystem::path missing = above;
    while (std::ranges::find(folders_, missing.parent_path()) == folders_.end())
      missing = missing.parent_path();
    std::filesystem::create_directory(missing);
    folders_.push_back(missing);
  }
  FileDescriptor out = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int error = out ? 0 : errno;
  if (error == 0) error = write_fully(out.get(), std::as_bytes(std::span(text))).error;
  if (const int late = out.close(); error == 0) error = late;
  if (error != 0) throw SystemError(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

void CCompiler::write_headers() {
  const auto all = [&](std::span<const EmbeddedFile> headers, const char* below) {
    for (const EmbeddedFile& it : headers) {
      files_.push_back(folder_ / "include" / below / it.name);
      write(files_.back(), it.text);
    }
  };
  all(c_headers(), "fairlead");
  all(parsec_headers(), "");
}

std::vector<std::string> CCompiler::command_for(const CJob& job) const {
  std::vector<std::string> out;
  std::istringstream words(command_);
  for (std::string word; words >> word;) out.push_back(word);
  for (const char* word : {"-std=gnu11", "-O2", "-fPIC", "-shared", "-w",
                           "-Werror=implicit-function-declaration", "-fdiagnostics-color=never"})
    out.emplace_back(word);
  out.push_back("-I" + (job.include_directory.empty() ? "." : job.include_directory.string()));
  out.push_back("-I" + (folder_ / "include").string());
  out.insert(out.end(), {"-o", object_.string(), code_.string()});
  out.insert(out.end(), job.libraries.begin(), job.libraries.end());
  out.emplace_back("-lm");
  return out;
}

std::unique_ptr<SharedObject> CCompiler::build(const CJob& job) {
  write(code_, job.text);
  const std::vector<std::string> words = command_for(job);
  if (words[0].starts_with('-'))
    throw ConfigError(fmt::format("CC is \"{}\", which is not a program", command_));
  const auto [status, output] = run(words);
  {
    const std::lock_guard lock(guards_child_);
    if (stopped_) return nullptr;
  }
  if (status != 0)
    throw InputError(fmt::format("the C code of {} does not compile ({}):\n{}", job.name, words[0],
                                 first_lines_of(output)));
  void* const handle = ::dlopen(object_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    std::string why = ::dlerror();
    if (const std::size_t at = why.find(object_.string() + ": "); at != std::string::npos)
      why.erase(at, object_.string().size() + 2);
    throw InputError(fmt::format("the C code of {} cannot be loaded: {}", job.name, why));
  }
  return std::make_unique<SharedObject>(handle);
}

void CCompiler::stop() noexcept {
  const std::lock_guard lock(guards_child_);
  stopped_ = true;
  if (child_ > 0) ::kill(-child_, SIGTERM);
}

std::pair<int, std::string> CCompiler::run(const std::vector<std::string>& words) {
  StartedChild started;
  {
    const std::lock_guard lock(guards_child_);
    if (stopped_) return {1, {}};
    started = start_child({.arguments = words, .in_path = true, .with_errors = true, .own_group = true});
    child_ = started.id;
  }
  if (started.error != 0)
    throw SystemError(fmt::format(
        "--allow-c needs a C compiler, and \"{}\" cannot be started: {}; the variable CC names one", words[0],
        std::strerror(started.error)));
  std::string output;
  std::array<char, 4096> piece;
  for (;;) {
    const auto bytes = ::read(started.output.get(), piece.data(), piece.size());
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
    if (bytes > 0 && output.size() < 2 * max_output)
      output.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  int status = 0;
  // After waitpid() the system may reuse the process id, so stop() must not use it any more: wait without reaping
  // first.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(started.id), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(guards_child_);
  child_ = 0;
  while (::waitpid(started.id, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1, output};
}

}  // namespace fairlead::jdf
