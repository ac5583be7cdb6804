// The network of a process that was started together with others, through a plug-in, since each MPI is a different
// library.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/launcher.hpp"
#include "net/network.hpp"

namespace fairlead::net {

/// Folders with plug-ins: next to the running program, in its build or installation.
std::vector<std::filesystem::path> plugin_folders();

/// An MPI implementation that Fairlead supports.
struct MpiSupport {
  std::string name;              ///< "Open MPI"
  std::filesystem::path plugin;  ///< empty: it was not built
  std::string packages;          ///< packages needed to build the plug-in
};
std::vector<MpiSupport> list_mpis(const std::vector<std::filesystem::path>& folders);
/// See MpiPlugin::eager_bytes(); after network_of().
std::uint64_t eager_bytes_of(const config::LaunchInfo& launched,
                             const std::vector<std::filesystem::path>& folders);

/// Joins the other processes. Collective. Throws SystemError that names what is missing.
std::shared_ptr<Network> network_of(const config::LaunchInfo& launched,
                                    const std::vector<std::filesystem::path>& folders);

}  // namespace fairlead::net
