// A shared library opened at run time. It is never unloaded: a BLAS or a driver has threads and buffers that do not
// survive that.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace fairlead {

class SharedLibrary {
 public:
  /// Opens `name` by the loader's search rules (or by path, if it contains a slash), with RTLD_LOCAL. Throws
  /// SystemError naming the library and the loader's reason.
  static SharedLibrary open(const std::string& name);

  /// True if open() would not throw.
  static bool can_open(const std::string& name) noexcept;

  /// True if the process has already loaded `name`.
  static bool is_loaded(const std::string& name) noexcept;

  /// The directories in which the loader searches before all others for what open() names without a slash:
  /// LD_LIBRARY_PATH, and the run path of the file that contains this code.
  static std::vector<std::filesystem::path> first_directories();

  /// The same library, all of whose functions have names that begin with `prefix`, which find() and require() then add.
  SharedLibrary with_prefix(std::string prefix) const;

  const std::string& name() const noexcept { return name_; }

  /// The function `symbol`, or null if the library has none.
  template <class Function>
  Function* find(const char* symbol) const noexcept {
    return reinterpret_cast<Function*>(address(symbol));
  }
  /// As find(), but throws SystemError if the library has no such function.
  template <class Function>
  Function* require(const char* symbol) const {
    return reinterpret_cast<Function*>(required_address(symbol));
  }

  /// The file that `symbol` was loaded from, as the loader names it; empty if unknown.
  std::string file_of(const char* symbol) const;

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* address(const char* symbol) const noexcept;
  void* required_address(const char* symbol) const;

  std::string name_, prefix_;
  void* handle_;
};

}  // namespace fairlead
