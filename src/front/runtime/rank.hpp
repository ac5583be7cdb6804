// Settings and backends of a runtime that is one of several ranks: its share of a common machine, and the workers that
// drive the network if the network has no threads of its own.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/ranks.hpp>

#include "backend/backend.hpp"
#include "engine/runtime_core.hpp"
#include "front/ranks/receive_placement.hpp"
#include "net/network.hpp"
#include "net/protocol.hpp"

namespace fairlead::front {

/// Throws UsageError: the rank is or was used by another runtime.
[[noreturn]] void throw_taken(const Rank& rank);

/// The same settings with the rank's share of the memory, unless `memory` is set, and separate output files. Throws
/// UsageError if the rank is already used, before anything of its network changes.
Config config_of(const Config& config, const Rank& rank);

/// The rank's communication protocol. Throws ConfigError if `node-local-reads` is on and the system forbids such reads.
net::Protocol protocol_of(const Config& config, Bytes capacity, net::Network& network);

/// The memory into which values of other ranks are received. Throws ConfigError if `receive-into` requires devices and
/// the network cannot write their memory.
ReceivePlacementChoice landing_of(const Config& config, engine::RuntimeCore& core,
                                  const net::Network& network);

/// The default backends and a backend for the network.
backend::Backends backends_of(const Rank& rank);

}  // namespace fairlead::front
