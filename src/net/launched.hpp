// The network of a process that was started together with others: by a plug-in, since each MPI is another library.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "config/launcher.hpp"
#include "net/network.hpp"

namespace fairlead::net {

/// Folders in which plug-ins are: beside the program that this is compiled into, as it is built and as it is installed.
std::vector<std::filesystem::path> plugin_folders();

/// Joins the others. Collective. Throws SystemError naming what is missing.
std::shared_ptr<Network> network_of(const config::Launched& launched,
                                    const std::vector<std::filesystem::path>& folders);

}  // namespace fairlead::net
