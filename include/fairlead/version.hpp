// The version of the Fairlead library.
#pragma once

namespace fairlead {

/// The version of the linked library, as in "0.1.0".
const char* version() noexcept;

}  // namespace fairlead
