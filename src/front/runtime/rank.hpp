// What it means for a runtime to be one of several ranks: it takes its part of a machine that they share, and its workers
// look after the network where that does not hear by itself.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/ranks.hpp>

#include "backend/backend.hpp"
#include "engine/runtime_core.hpp"
#include "front/ranks/landing.hpp"
#include "net/network.hpp"
#include "net/protocol.hpp"

namespace fairlead::front {

/// There is a runtime at that place, or was.
[[noreturn]] void throw_taken(const Rank& rank);

/// The same settings, with the rank's share of the memory where they leave open how much that is, and files of its own
/// for what it writes down. Throws UsageError if the place is taken, before anything of its network is changed.
Config config_of(const Config& config, const Rank& rank);

/// How it speaks to the others. Throws ConfigError where reads within a machine are asked for and the system forbids them.
net::Protocol protocol_of(const Config& config, Bytes capacity, net::Network& network);

/// Where the values of others land here. Throws ConfigError where that is to be in devices and cannot.
LandingChoice landing_of(const Config& config, engine::RuntimeCore& core, const net::Network& network);

/// What every runtime is made from, and the network.
backend::Backends backends_of(const Rank& rank);

}  // namespace fairlead::front
