// The cold path of ensure(): builds the message and throws.
#include "base/check.hpp"

#include <fairlead/error.hpp>

#include <string>
#include <string_view>

namespace fairlead {

void internal_error(const char* fact, const char* file, int line) {
  std::string_view name = file;  // the message names the path from src/ on, not the build directory
  if (const auto at = name.rfind("/src/"); at != std::string_view::npos) name.remove_prefix(at + 1);
  throw Error("internal: it does not hold that " + std::string(fact) + " (" + std::string(name) + ":" +
              std::to_string(line) + ")");
}

}  // namespace fairlead
