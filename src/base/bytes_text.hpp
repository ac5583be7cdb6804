// Formats sizes in bytes for messages about memory.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

namespace fairlead {

/// "384 MiB"; a size below 1 MiB is exact: "32768 bytes".
std::string mebibytes(Bytes bytes);

/// As mebibytes(), rounded up for a required size and down for an available one. So a size that does not fit never
/// looks as if it did, and a limit copied from a message is large enough.
std::string mebibytes_needed(Bytes bytes);
std::string mebibytes_there(Bytes bytes);

}  // namespace fairlead
