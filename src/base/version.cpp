// The version of the library, given by CMake's project().
#include <fairlead/version.hpp>

namespace fairlead {

const char* version() noexcept { return FAIRLEAD_VERSION; }

}  // namespace fairlead
