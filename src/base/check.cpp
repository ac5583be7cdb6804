// The cold path of checks: makes the message.
#include "base/check.hpp"

#include <fairlead/error.hpp>

#include <string>
#include <string_view>

namespace fairlead {

void broken_inside(const char* fact, const char* file, int line) {
  std::string_view name = file;  // where it was built is nobody's business
  if (const auto at = name.rfind("/src/"); at != std::string_view::npos) name.remove_prefix(at + 1);
  throw Error("internal: it does not hold that " + std::string(fact) + " (" + std::string(name) + ":" +
              std::to_string(line) + ")");
}

}  // namespace fairlead
