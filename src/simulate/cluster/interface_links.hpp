// The links between a simulated rank's network interfaces and its memories. Interfaces attached to the host reach its
// memory directly and a device's memory over the link of the device. Interfaces attached to devices reach these
// directly and the host's memory over the link of one of them.
#pragma once
#include <functional>

#include "machine/description.hpp"
#include "machine/topology.hpp"
#include "simulate/cluster/fabric.hpp"
#include "simulate/cluster/rank_world.hpp"

namespace fairlead::simulate {

class InterfaceLinks final : public RankInterfaces {
 public:
  /// The arguments must outlive the object.
  InterfaceLinks(const Topology& topology, const machine::NetworkDescription& network, RankWorld& world)
      : host_(topology.host()), devices_(topology.devices()), network_(network), world_(world) {}

  bool cross(const void* place, Bytes bytes, bool out, std::uint64_t payload,
             std::function<void()> then) override {
    if (devices_.empty()) return false;
    const NodeId memory = world_.node_at(place);
    if ((memory == host_) != network_.interfaces_on_devices) return false;
    const NodeId interface = network_.interfaces_on_devices ? device_of(payload) : host_;
    world_.transfer(bytes, out ? memory : interface, out ? interface : memory, std::move(then));
    return true;
  }

 private:
  /// The device over which the host is reached: one for each interface, round robin.
  NodeId device_of(std::uint64_t payload) const {
    const std::size_t interfaces = std::min(network_.interfaces, devices_.size());
    return devices_[payload % interfaces * (devices_.size() / interfaces)];
  }
  const NodeId host_;
  const std::vector<NodeId> devices_;
  const machine::NetworkDescription& network_;
  RankWorld& world_;
};

}  // namespace fairlead::simulate
