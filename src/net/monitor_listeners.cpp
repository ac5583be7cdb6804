// See monitor_listeners.hpp.
#include "net/monitor_listeners.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "net/monitor_connection.hpp"

namespace fairlead::net {

SystemError monitor_error(const char* what) {
  return SystemError(fmt::format("ranks cannot watch each other: cannot create {}: {}", what,
                                 std::generic_category().message(errno)));
}

void MonitorListeners::open_locally() {
  const std::string name = fmt::format("fairlead rank {} {}", place.process, text_of(random_token()));
  local = listen_locally(name);
  if (!local) throw monitor_error("a socket");
  place.local = name;
}

void MonitorListeners::open_to_network() {
  far = listen_everywhere(place.port);
  if (!far) throw monitor_error("a socket");
  place.addresses = addresses_of_machine();
}

}  // namespace fairlead::net
