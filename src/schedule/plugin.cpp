// Loads the scheduling policy of a plug-in, and checks the plug-in before use.
#include "schedule/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "policy/plugin.hpp"

namespace fairlead::schedule {

namespace {

constexpr const char* page = "docs/writing-a-policy.md shows how to build one";

/// The error message of the dynamic loader.
std::string loader_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

/// True if the address in a loaded library is that of a data object of at least `bytes` bytes, not of a
/// function. An address without a symbol, such as that of a local constant, is accepted.
bool is_data(const void* address, std::size_t bytes) {
  ::Dl_info library{};
  ElfW(Sym)* found = nullptr;
  if (::dladdr1(address, &library, reinterpret_cast<void**>(&found), RTLD_DL_SYMENT) == 0) return false;
  if (found == nullptr || library.dli_saddr != address) return true;
  return ELF64_ST_TYPE(found->st_info) == STT_OBJECT && found->st_size >= bytes;
}

/// The version of Fairlead that the plug-in was built against. The pointer may be invalid: the plug-in may
/// have another interface, or an unrelated symbol of that name.
std::string version_in(const PolicyPlugin& plugin) {
  constexpr std::size_t longest = 32;
  if (plugin.version == nullptr || !is_data(plugin.version, 1)) return "unknown";
  std::string text(plugin.version, ::strnlen(plugin.version, longest));
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
  return text.empty() || !printable ? "unknown" : text;
}

}  // namespace

bool is_plugin(std::string_view name) noexcept {
  return name.find('/') != name.npos || name.ends_with(".so");
}

const PolicyEntry& load_plugin(std::string_view path) {
  const std::string file = path.find('/') == path.npos ? fmt::format("./{}", path) : std::string(path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status))
    throw ConfigError(
        fmt::format("there is no file {} with a plug-in for --scheduler; `fairlead schedulers` lists the "
                    "policies without a plug-in",
                    path));
  if (!std::filesystem::is_regular_file(status))
    throw ConfigError(fmt::format("the scheduler's plug-in {} is not a file; {}", path, page));
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    throw ConfigError(
        fmt::format("cannot load the scheduler's plug-in {}: {}; {}", path, loader_error(), page));
  void* const symbol = ::dlsym(library, "fairlead_policy");
  if (symbol == nullptr)
    throw ConfigError(
        fmt::format("{} is not a plug-in for --scheduler, since it lacks the symbol fairlead_policy: write "
                    "FAIRLEAD_POLICY(entry) in it; {}",
                    path, page));
  if (!is_data(symbol, sizeof(PolicyPlugin)))
    throw ConfigError(fmt::format(
        "{} is not a plug-in for --scheduler, since its symbol fairlead_policy was not defined by "
        "FAIRLEAD_POLICY(entry); {}",
        path, page));
  const auto* const plugin = static_cast<const PolicyPlugin*>(symbol);
  if (plugin->interface != interface_id())
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} was built against another interface (of Fairlead {}) than "
                    "that of this program (of Fairlead {}): rebuild it with the headers and the compiler "
                    "of this program",
                    path, version_in(*plugin), interface_version));
  if (plugin->entry != nullptr && !is_data(plugin->entry, 1))
    throw ConfigError(
        fmt::format("the entry of the scheduler's plug-in {} is not a PolicyEntry; {}", path, page));
  if (plugin->entry == nullptr || plugin->entry->make == nullptr)
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} has no function that creates a policy: the third field of "
                    "its PolicyEntry is null",
                    path));
  return *plugin->entry;
}

}  // namespace fairlead::schedule
