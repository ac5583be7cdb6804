// A text of C becomes a shared object that is loaded: with the system's C compiler, in a private folder that is gone when this
// returns, or throws. The folder of a process that was killed is removed by the next compiler: each folder is locked as long as its
// process lives.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead::jdf {

/// A loaded shared object. It stays loaded: threads may have run its code.
class SharedObject {
 public:
  explicit SharedObject(void* handle) noexcept : handle_(handle) {}
  /// Null if there is none of that name.
  void* symbol(const std::string& name) const noexcept;

 private:
  void* handle_;
};

struct CJob {
  std::string text;
  std::string name;                      ///< of the text's file, as its #line say it
  std::filesystem::path beside;          ///< the folder in which its own headers are
  std::vector<std::string> libraries{};  ///< paths
};

class CCompiler {
 public:
  /// `command`: the program and its first arguments, as in the variable CC. Makes the folder; throws SystemError.
  explicit CCompiler(std::string command);
  ~CCompiler();
  CCompiler(const CCompiler&) = delete;
  CCompiler& operator=(const CCompiler&) = delete;

  /// The files, then the folders, that are there now: what a process that ends at once has to remove, in this order.
  std::vector<std::filesystem::path> temporaries() const;
  /// Throws InputError with what the compiler says if the text is wrong, SystemError if there is no compiler, InputError if
  /// the code lacks something; nothing is returned after stop().
  std::unique_ptr<SharedObject> build(const CJob& job);
  /// From any thread: the compiler is told to end, if it runs.
  void stop() noexcept;

 private:
  void make_folder();
  void write_headers();
  void write(const std::filesystem::path& below, std::string_view text);
  std::vector<std::string> command_for(const CJob& job) const;
  /// Its exit status, and what it says.
  std::pair<int, std::string> run(const std::vector<std::string>& words);

  std::string command_;
  FileDescriptor lock_;  // of the folder
  std::filesystem::path folder_, code_, object_;
  std::vector<std::filesystem::path> files_, folders_;
  std::mutex guards_child_;
  pid_t child_ = 0;
  bool stopped_ = false;
};

}  // namespace fairlead::jdf
