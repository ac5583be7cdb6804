// The machine as one runtime uses it, from the settings and the detected hardware: workers, devices, the division of
// the memory limit, and the resulting topology.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/device_list.hpp"
#include "front/runtime/machine_profile.hpp"
#include "machine/topology.hpp"

namespace fairlead::machine {
struct Machine;
}

namespace fairlead::front {

inline constexpr unsigned pieces_per_device = 3;  // transit buffers: one fills, one drains, one waits

struct MachinePlan {
  std::size_t workers;
  Bytes capacity;              ///< of the memory pool
  std::size_t idle_cores = 0;  ///< cores needed neither for workers nor to drive devices
  std::vector<unsigned> processors;
  std::vector<backend::DeviceEntry> devices{};
  Bytes chunk = 0;  ///< size of a transit buffer

  MachineProfile profile;  ///< measurements from earlier runs
  Topology topology{};
  std::vector<std::unique_ptr<backend::BackendInstance>> parts{};  ///< of all backends except the cores

  Bytes transit_bytes(Bytes of_piece) const { return of_piece * pieces_per_device * devices.size(); }
  Bytes chunk_for(Bytes limit, Bytes reserved) const;
  /// The memory that remains for the pool.
  Bytes pool_capacity(Bytes limit, Bytes reserved) const;
  /// The memory limit that leaves `wanted` bytes for the pool.
  Bytes limit_for(Bytes wanted, Bytes reserved) const;
  /// Binds one worker to each core, if `wanted` and if there is one worker per core. Shared caches are only known for
  /// bound workers.
  void bind_to(const machine::Machine& machine, bool wanted);
};

/// `reserved`: bytes of the memory limit that the program itself uses. Throws ConfigError if nothing remains for the
/// pool, or if a device does not exist.
MachinePlan plan_of(const Config& config, Bytes reserved, const backend::Backends& backends);

}  // namespace fairlead::front
