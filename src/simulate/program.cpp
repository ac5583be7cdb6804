// The error for programs that exceed the simulator's limits.
#include "simulate/program.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

namespace fairlead::simulate {

void Program::too_many(const char* what, std::uint64_t most) {
  throw ConfigError(
      fmt::format("the program has more than {} {}, which is more than can be simulated: take larger tiles, "
                  "or a smaller problem",
                  most, what));
}

}  // namespace fairlead::simulate
