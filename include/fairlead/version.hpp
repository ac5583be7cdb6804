// Which Fairlead this is.
#pragma once

namespace fairlead {

/// As in "0.1.0": the version of the library that is linked.
const char* version() noexcept;

}  // namespace fairlead
