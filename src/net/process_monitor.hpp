// The failure detector of this process, if it was started together with others: its owner, its actions after a loss,
// and the exit of the process. MPI can be initialized and finalized only once in a process, so this object is unique
// too. It lives until MPI has been finalized, since that waits for all ranks as well.
#pragma once
#include <memory>
#include <string>

#include "base/time.hpp"
#include "config/launcher.hpp"
#include "net/failure_detector.hpp"
#include "net/mpi/plugin.hpp"
#include "net/network.hpp"
#include "net/process_address.hpp"

namespace fairlead::net {

/// Initializes MPI and the failure detector; later calls do nothing. Collective. Throws SystemError.
void start_process_monitor(const MpiPlugin& plugin, const config::LaunchInfo& launched);

/// Adds a network that a loss ends.
void add_monitored_network(const std::shared_ptr<Network>& network);

/// Sets the longest silence of a rank; 0: unlimited. No effect without a failure detector.
void set_heartbeat_timeout(Duration patience);

/// "rank 2 on griffon-7 (process 4711) is gone"
std::string text_of(const Loss& loss, const ProcessAddress& of, Duration patience);

}  // namespace fairlead::net
