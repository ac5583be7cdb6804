// Loads a plug-in, and says what is wrong with it.
#include "schedule/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <filesystem>
#include <string>

#include "policy/plugin.hpp"

namespace fairlead::schedule {

namespace {

constexpr const char* page = "docs/writing-a-policy.md tells how to build one";

/// In the loader's words.
std::string reason() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "the loader gives no reason";
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
  const auto* const plugin = static_cast<const PolicyPlugin*>(::dlsym(library, "fairlead_policy"));
  if (plugin == nullptr)
    throw ConfigError(
        fmt::format("{} is no plug-in for --scheduler, since it lacks the symbol fairlead_policy: write "
                    "FAIRLEAD_POLICY(entry) in it; {}",
                    path, page));
  if (plugin->interface != interface_id())
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} was built against another interface (of Fairlead {}) than "
                    "this program has (of Fairlead {}): build it again, with the headers and the compiler "
                    "of this one",
                    path, plugin->version, interface_version));
  if (plugin->entry == nullptr || plugin->entry->make == nullptr)
    throw ConfigError(
        fmt::format("the scheduler's plug-in {} names no function that makes a policy: the third field of "
                    "its PolicyEntry is null",
                    path));
  return *plugin->entry;
}

}  // namespace fairlead::schedule
