// What a runtime makes of its settings and of the machine: how many workers, how the memory limit is divided, which
// devices, and the topology that follows.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/device_list.hpp"
#include "front/runtime/machine_memory.hpp"
#include "machine/topology.hpp"

namespace fairlead::machine {
struct Machine;
}

namespace fairlead::front {

inline constexpr unsigned pieces_per_device = 3;  // of transit buffers: one comes, one goes, one waits

struct MachinePlan {
  std::size_t workers;
  Bytes capacity;              ///< of the pool
  std::size_t idle_cores = 0;  ///< that are not needed for workers, nor to drive devices
  std::vector<unsigned> processors;
  std::vector<backend::DeviceEntry> devices{};
  Bytes piece = 0;  ///< of transit buffers

  MachineMemory known;  ///< of the machine, from earlier runs
  Topology topology{};
  std::vector<std::unique_ptr<backend::Part>> parts{};  ///< beside the cores, which add to it

  Bytes transit_bytes(Bytes of_piece) const { return of_piece * pieces_per_device * devices.size(); }
  Bytes piece_for(Bytes limit, Bytes reserved) const;
  /// For the pool.
  Bytes left_of(Bytes limit, Bytes reserved) const;
  /// The limit that leaves so much.
  Bytes limit_for(Bytes wanted, Bytes reserved) const;
  /// One worker on each core, if that is wanted and there is one for each. Only of those that stay where they are is it
  /// known what they share.
  void bind_to(const machine::Machine& machine, bool wanted);
};

/// `reserved`: what the program has for itself of the limit. Throws ConfigError if that leaves nothing, or if a
/// device is not there.
MachinePlan plan_of(const Config& config, Bytes reserved, const backend::Backends& backends);

}  // namespace fairlead::front
