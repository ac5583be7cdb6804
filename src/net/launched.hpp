// The network of a process that was started together with others: by a plug-in, since each MPI is another library.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/launcher.hpp"
#include "net/network.hpp"

namespace fairlead::net {

/// Folders in which plug-ins are: beside the program that this is compiled into, as it is built and as it is installed.
std::vector<std::filesystem::path> plugin_folders();

/// An MPI for which there may be a plug-in.
struct MpiThere {
  std::string name;              ///< "Open MPI"
  std::filesystem::path plugin;  ///< empty: there is none
  std::string packages;          ///< that are missing where Fairlead is built
};
std::vector<MpiThere> mpis_there(const std::vector<std::filesystem::path>& folders);
/// See MpiPlugin::eager_bytes(): of those who have joined.
std::uint64_t eager_bytes_of(const config::Launched& launched,
                             const std::vector<std::filesystem::path>& folders);

/// Joins the others. Collective. Throws SystemError naming what is missing.
std::shared_ptr<Network> network_of(const config::Launched& launched,
                                    const std::vector<std::filesystem::path>& folders);

}  // namespace fairlead::net
