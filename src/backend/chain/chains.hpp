// Links that cross two others are carried by the carriers of those, piece by piece (transit.hpp): from the
// disk to a device, from a device to another one, through the host's memory.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/carrier.hpp"
#include "backend/chain/transit.hpp"
#include "machine/topology.hpp"
#include "memory/routes.hpp"

namespace fairlead::backend {

/// Buffers that were set aside for what passes the host's memory on its way from or to devices.
struct TransitBuffers {
  std::byte* memory = nullptr;  ///< for each device pieces x piece_bytes; aligned for direct I/O
  Bytes piece_bytes = 0;
  unsigned pieces = 0;
};

class Chains final : public Carrier, private Receiver {
 public:
  struct World {
    const Topology* topology;
    const memory::Routes* routes;
    std::span<Carrier* const> carriers;  ///< by LinkId; those of wires are there before the first start()
    const Addresses* addresses;
    std::function<void(std::exception_ptr)> stop_run;  ///< a next piece could not be begun
  };
  Chains(World world, const TransitBuffers& buffers);

  void start(const Load& load) override;
  void stop() noexcept override;

 private:
  void carry(const Hop& hop);
  void over(void* token, const Outcome& outcome) noexcept override;

  const World world_;
  std::vector<NodeId> devices_;
  std::vector<std::unique_ptr<Transit>> transits_;  // by device
};

}  // namespace fairlead::backend
