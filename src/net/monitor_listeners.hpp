// Listening sockets for the failure detector: a local one, and one for ranks on other machines.
#pragma once
#include <fairlead/error.hpp>

#include "base/file_descriptor.hpp"
#include "net/process_address.hpp"

namespace fairlead::net {

/// An error that the system lacks a resource of the failure detector; errno states why.
SystemError monitor_error(const char* what);

struct MonitorListeners {
  ProcessAddress place = own_address();  ///< with the sockets that are open
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
