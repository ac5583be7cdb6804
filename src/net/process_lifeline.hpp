// This process's lifeline, if it was started together with others: what holds it, what it does about a loss, and how it
// ends. MPI is begun and ended once in a process, and so is this; it lasts until MPI is over, since that, too, waits for all.
#pragma once
#include <memory>
#include <string>

#include "base/time.hpp"
#include "config/launcher.hpp"
#include "net/lifeline.hpp"
#include "net/mpi/plugin.hpp"
#include "net/network.hpp"
#include "net/whereabouts.hpp"

namespace fairlead::net {

/// Begins with MPI, and with the lifeline; later calls find both there. Collective. Throws SystemError.
void begin_lifeline(const MpiPlugin& plugin, const config::Launched& launched);

/// What a loss ends from now on.
void end_with_lifeline(const std::shared_ptr<Network>& network);

/// How long a rank may say nothing; 0: for ever. Nothing where there is no lifeline.
void set_patience_of_lifeline(Duration patience);

/// "rank 2 on griffon-7 (process 4711) is gone"
std::string text_of(const Loss& loss, const Whereabouts& of, Duration patience);

}  // namespace fairlead::net
