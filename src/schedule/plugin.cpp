// Loads a plug-in and reports what is wrong with it.
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

/// The loader's message.
std::string reason() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

/// True if the address in a loaded library belongs to a data object of at least so many bytes, not to a function. An
/// address without a symbol, such as that of a local constant, is accepted.
bool is_data(const void* address, std::size_t bytes) {
  ::Dl_info library{};
  ElfW(Sym)* found = nullptr;
  if (::dladdr1(address, &library, reinterpret_cast<void**>(&found), RTLD_DL_SYMENT) == 0) return false;
  if (found == nullptr || library.dli_saddr != address) return true;
  return ELF64_ST_TYPE(found->st_info) == STT_OBJECT && found->st_size >= bytes;
}

/// The version of Fairlead that the plug-in was built against. The pointer may be invalid, since another interface or
/// an unrelated symbol of that name is possible.
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
        fmt::format("there is no file {}, named as the scheduler's plug-in; `fairlead schedulers` lists "
                    "the policies that need none",
                    path));
  if (!std::filesystem::is_regular_file(status))
    throw ConfigError(fmt::format("the scheduler's plug-in {} is not a file; {}", path, page));
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    throw ConfigError(fmt::format("cannot load the scheduler's plug-in {}: {}; {}", path, reason(), page));
  void* const symbol = ::dlsym(library, "fairlead_policy");
  if (symbol == nullptr)
    throw ConfigError(
        fmt::format("{} is no plug-in for --scheduler, since it lacks the symbol fairlead_policy: write "
                    "FAIRLEAD_POLICY(entry) in it; {}",
                    path, page));
  if (!is_data(symbol, sizeof(PolicyPlugin)))
    throw ConfigError(fmt::format(
        "{} is no plug-in for --scheduler, since its symbol fairlead_policy is something else than what "
        "FAIRLEAD_POLICY(entry) makes; {}",
        path, page));
  const auto* const plugin = static_cast<const PolicyPlugin*>(symbol);
  if (plugin->interface != interface_id())
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} was built against another interface (of Fairlead {}) than "
                    "this program has (of Fairlead {}): build it again, with the headers and the compiler "
                    "of this one",
                    path, version_in(*plugin), interface_version));
  if (plugin->entry != nullptr && !is_data(plugin->entry, 1))
    throw ConfigError(fmt::format("the scheduler's plug-in {} names an entry that is none; {}", path, page));
  if (plugin->entry == nullptr || plugin->entry->make == nullptr)
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} names no function that makes a policy: the third field of "
                    "its PolicyEntry is null",
                    path));
  return *plugin->entry;
}

}  // namespace fairlead::schedule
