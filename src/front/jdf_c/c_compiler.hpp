// Compiles C code to a shared object with the system's C compiler, and loads it. Files are in a private directory,
// which the destructor removes. The directory is locked while the process lives, so that the next compiler can remove
// those of killed processes.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead::jdf {

/// A loaded shared object. It stays loaded, since threads may have run its code.
class SharedObject {
 public:
  explicit SharedObject(void* handle) noexcept : handle_(handle) {}
  /// The address of a symbol; null if there is none.
  void* symbol(const std::string& name) const noexcept;

 private:
  void* handle_;
};

struct CJob {
  std::string text;
  std::string name;                         ///< of the source file, as its #line directives have it
  std::filesystem::path include_directory;  ///< the directory with its own headers
  std::vector<std::string> libraries{};     ///< paths
};

class CCompiler {
 public:
  /// `command`: the program and its first arguments, as in the variable CC. Creates the directory; throws SystemError.
  explicit CCompiler(std::string command);
  ~CCompiler();
  CCompiler(const CCompiler&) = delete;
  CCompiler& operator=(const CCompiler&) = delete;

  /// The existing files, then directories, in the order in which a process that exits at once must remove them.
  std::vector<std::filesystem::path> temporaries() const;
  /// Throws InputError, with the compiler's output, if the code does not compile or cannot be loaded; SystemError if
  /// there is no compiler. Returns null after stop().
  std::unique_ptr<SharedObject> build(const CJob& job);
  /// Terminates the compiler, if it runs. Thread-safe.
  void stop() noexcept;

 private:
  void make_folder();
  void write_headers();
  void write(const std::filesystem::path& below, std::string_view text);
  std::vector<std::string> command_for(const CJob& job) const;
  /// Returns the exit status and the output.
  std::pair<int, std::string> run(const std::vector<std::string>& words);

  std::string command_;
  FileDescriptor lock_;  // of the directory
  std::filesystem::path folder_, code_, object_;
  std::vector<std::filesystem::path> files_, folders_;
  std::mutex guards_child_;
  pid_t child_ = 0;
  bool stopped_ = false;
};

}  // namespace fairlead::jdf
