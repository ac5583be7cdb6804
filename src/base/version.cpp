// The version of the library, as in CMake's project().
#include <fairlead/version.hpp>

namespace fairlead {

const char* version() noexcept { return "0.1.0"; }

}  // namespace fairlead
