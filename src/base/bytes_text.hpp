// Bytes in messages about memory.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

namespace fairlead {

/// "384 MiB"; below 1 MiB exactly: "32768 bytes".
std::string mebibytes(Bytes bytes);

}  // namespace fairlead
