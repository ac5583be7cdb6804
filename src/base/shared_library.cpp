// Wraps dlopen and dlsym; errors include the loader's reason.
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fairlead/error.hpp>

namespace fairlead {

SharedLibrary SharedLibrary::open(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    throw SystemError(fmt::format("cannot load the library \"{}\": {}", name,
                                  reason != nullptr ? reason : "the loader gives no reason"));
  }
  return SharedLibrary(name, handle);
}

bool SharedLibrary::is_loaded(const std::string& name) noexcept {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

void* SharedLibrary::address(const char* symbol) const noexcept { return ::dlsym(handle_, symbol); }

void* SharedLibrary::required_address(const char* symbol) const {
  void* found = address(symbol);
  if (found == nullptr) {
    const char* reason = ::dlerror();
    throw SystemError(fmt::format("the library \"{}\" lacks the function {}: {}", name_, symbol,
                                  reason != nullptr ? reason : "the loader gives no reason"));
  }
  return found;
}

std::string SharedLibrary::file_of(const char* symbol) const {
  Dl_info info{};
  void* found = address(symbol);
  if (found == nullptr || ::dladdr(found, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

}  // namespace fairlead
