// Where other ranks of a job come in: a local socket, and where some are on other machines, one for these.
#pragma once
#include <fairlead/error.hpp>

#include "base/file_descriptor.hpp"
#include "net/whereabouts.hpp"

namespace fairlead::net {

/// The system does not give what a lifeline needs, as errno says.
SystemError no_line(const char* what);

struct LifelineDoor {
  Whereabouts place = own_whereabouts();  ///< with what is open
  FileDescriptor local{}, far{};

  /// Throw SystemError if the system has no socket.
  void open_locally();
  void open_to_network();
  void close() noexcept {
    local.close();
    far.close();
  }
};

}  // namespace fairlead::net
