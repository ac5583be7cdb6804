// See launched.hpp.
#include "net/launched.hpp"

#include <dlfcn.h>
#include <fairlead/error.hpp>
#include <fairlead/version.hpp>

#include <fmt/format.h>

#include <string_view>

#include "net/direct_reads.hpp"
#include "net/interface_of_plugins.hpp"
#include "net/mpi/plugin.hpp"
#include "net/process_monitor.hpp"

namespace fairlead::net {

namespace {

struct Names {
  std::string_view in_words, packages;
};
Names names_of(std::string_view with) {
  if (with == "openmpi") return {"Open MPI", "libopenmpi-dev and openmpi-bin"};
  if (with == "mpich") return {"MPICH", "libmpich-dev and mpich"};
  return {with, "it"};
}

std::string said_by_loader() {
  const char* const text = ::dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

}  // namespace

std::vector<std::filesystem::path> plugin_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path() / ".." / FAIRLEAD_PLUGINS_NEXT_TO_PROGRAMS);
    folders.push_back(program.parent_path());
  }
  // Of a program in another language: next to the library.
  if (::Dl_info own{}; ::dladdr(reinterpret_cast<const void*>(&plugin_folders), &own) != 0) {
    const auto folder = std::filesystem::path(own.dli_fname).parent_path();
    folders.push_back(folder);
    folders.push_back(folder / "fairlead");
  }
  folders.emplace_back(FAIRLEAD_PLUGINS_WHERE_BUILT);
  return folders;
}

namespace {

const MpiPlugin* loaded(const std::filesystem::path& path, std::string& why) {
  // Global, since components that an MPI loads itself need its symbols.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (library == nullptr) {
    why = fmt::format("{} cannot be loaded: {}", path.string(), said_by_loader());
    return nullptr;
  }
  const auto* const plugin = static_cast<const MpiPlugin*>(::dlsym(library, mpi_plugin_symbol));
  if (plugin != nullptr && std::string_view(plugin->interface) == interface_of_plugins) return plugin;
  why = fmt::format("{} belongs to another version of Fairlead than this one, {}: rebuild both",
                    path.string(), version());
  return nullptr;
}

std::filesystem::path plugin_file(std::string_view with, const std::vector<std::filesystem::path>& folders) {
  std::error_code error;
  for (const auto& folder : folders)
    if (const auto path = folder / fmt::format("fairlead-{}.so", with); std::filesystem::exists(path, error))
      return path;
  return {};
}

}  // namespace

std::vector<MpiSupport> list_mpis(const std::vector<std::filesystem::path>& folders) {
  std::vector<MpiSupport> all;
  for (const char* with : {"openmpi", "mpich"}) {
    const auto path = plugin_file(with, folders);
    all.push_back({.name = std::string(names_of(with).in_words),
                   .plugin = path,
                   .packages = std::string(names_of(with).packages)});
  }
  return all;
}

std::uint64_t eager_bytes_of(const config::LaunchInfo& launched,
                             const std::vector<std::filesystem::path>& folders) {
  std::string why;
  const MpiPlugin* const plugin = loaded(plugin_file(launched.mpi_implementation, folders), why);
  return plugin == nullptr ? 0 : plugin->eager_bytes();
}

std::shared_ptr<Network> network_of(const config::LaunchInfo& launched,
                                    const std::vector<std::filesystem::path>& folders) {
  const Names names = names_of(launched.mpi_implementation);
  const std::string file = fmt::format("fairlead-{}.so", launched.mpi_implementation);
  const std::string process_text = fmt::format("this process was started as rank {} of {} by {}",
                                               launched.rank, launched.ranks, names.in_words);
  if (const auto path = plugin_file(launched.mpi_implementation, folders); !path.empty()) {
    std::string why;
    const MpiPlugin* const plugin = loaded(path, why);
    if (plugin == nullptr) throw SystemError(fmt::format("{}, but {}", process_text, why));
    start_process_monitor(*plugin, launched);
    const auto network = plugin->join();
    network->set_direct_reads(exchange_direct_reads(*plugin, launched.rank));
    add_monitored_network(network);
    return network;
  }
  throw SystemError(
      fmt::format("{}, for which this Fairlead has no plug-in, {}: build Fairlead with {} installed.\n  In "
                  "Debian these are {}. Without mpirun the program runs as one process.",
                  process_text, file, names.in_words, names.packages));
}

}  // namespace fairlead::net
