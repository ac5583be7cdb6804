// See part_of_node.hpp.
#include "simulate/cluster/part_of_node.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace fairlead::simulate {

machine::MachineDescription part_of_node(machine::MachineDescription machine, std::size_t ranks) {
  if (ranks == 1) return machine;
  const auto divide = [&](std::size_t& count, const char* what) {
    if (count % ranks != 0)
      throw ConfigError(fmt::format("a node of {} has {} {}, which {} ranks cannot divide among them",
                                    machine.name, count, what, ranks));
    count /= ranks;
  };
  divide(machine.cores, "cores");
  divide(machine.network.interfaces, "interfaces");
  std::size_t devices = machine.devices.size();
  divide(devices, "devices");
  const auto users_of = [&](const std::string& bus, std::size_t of_devices) {
    return std::count_if(machine.devices.begin(),
                         machine.devices.begin() + static_cast<std::ptrdiff_t>(of_devices),
                         [&](const machine::DeviceDescription& device) {
                           return std::ranges::find(device.link.buses, bus) != device.link.buses.end();
                         });
  };
  for (machine::BusDescription& bus : machine.buses) {
    const auto all = users_of(bus.name, machine.devices.size()), ours = users_of(bus.name, devices);
    if (bus.port_of || ours == 0) continue;
    const double part = static_cast<double>(ours) / static_cast<double>(all);
    bus.bytes_per_second.out *= part;
    bus.bytes_per_second.in *= part;
  }
  machine.devices.resize(devices);
  std::erase_if(machine.peers, [&](const machine::PeerDescription& peer) {
    return peer.first >= devices || peer.second >= devices;
  });
  machine.memory /= ranks;
  machine.network.nodes *= ranks;
  machine.network.nodes_per_switch *= ranks;
  return machine;
}

}  // namespace fairlead::simulate
