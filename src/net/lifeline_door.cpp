// See lifeline_door.hpp.
#include "net/lifeline_door.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "net/lifeline_link.hpp"

namespace fairlead::net {

SystemError no_line(const char* what) {
  return SystemError(fmt::format("ranks cannot watch each other: the system gives no {}: {}", what,
                                 std::generic_category().message(errno)));
}

void LifelineDoor::open_locally() {
  const std::string name = fmt::format("fairlead rank {} {}", place.process, text_of(random_token()));
  local = listen_locally(name);
  if (!local) throw no_line("socket");
  place.local = name;
}

void LifelineDoor::open_to_network() {
  far = listen_everywhere(place.port);
  if (!far) throw no_line("socket");
  place.addresses = addresses_of_machine();
}

}  // namespace fairlead::net
