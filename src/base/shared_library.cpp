// Wraps dlopen and dlsym; errors include the loader's reason.
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <fairlead/error.hpp>
#include <utility>

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

bool SharedLibrary::can_open(const std::string& name) noexcept {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr;
}

bool SharedLibrary::is_loaded(const std::string& name) noexcept {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

std::vector<std::filesystem::path> SharedLibrary::first_directories() {
  Dl_info info{};
  void* map = nullptr;  // glibc accepts it as the handle of a file that dlopen() would refuse: a program
  if (::dladdr1(reinterpret_cast<void*>(&SharedLibrary::is_loaded), &info, &map, RTLD_DL_LINKMAP) == 0)
    return {};
  Dl_serinfo size{};
  if (::dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::byte> bytes(size.dls_size);
  auto* const list = new (bytes.data()) Dl_serinfo(size);
  if (::dlinfo(map, RTLD_DI_SERINFO, list) != 0) return {};
  std::vector<std::filesystem::path> found;
  for (unsigned i = 0; i < list->dls_cnt; ++i)
    if (list->dls_serpath[i].dls_flags != LA_SER_DEFAULT) found.emplace_back(list->dls_serpath[i].dls_name);
  return found;
}

SharedLibrary SharedLibrary::with_prefix(std::string prefix) const {
  SharedLibrary named(*this);
  named.prefix_ = std::move(prefix);
  return named;
}

// Allocates nothing: callers need no answer to a lack of memory. No function has a longer name.
void* SharedLibrary::address(const char* symbol) const noexcept {
  std::array<char, 256> name{};
  const std::size_t length = std::strlen(symbol);
  if (prefix_.size() + length >= name.size()) return nullptr;
  std::memcpy(name.data(), prefix_.data(), prefix_.size());
  std::memcpy(name.data() + prefix_.size(), symbol, length);
  return ::dlsym(handle_, name.data());
}

void* SharedLibrary::required_address(const char* symbol) const {
  void* found = address(symbol);
  if (found == nullptr) {
    const char* reason = ::dlerror();
    throw SystemError(fmt::format("the library \"{}\" lacks the function {}{}: {}", name_, prefix_, symbol,
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
