// Bytes in messages about memory.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

namespace fairlead {

/// "384 MiB"; below 1 MiB exactly: "32768 bytes".
std::string mebibytes(Bytes bytes);

/// Likewise, but never less, or never more, than it is: what does not fit does not look as if it did, and who
/// allows as much as is said to be needed has allowed enough.
std::string mebibytes_needed(Bytes bytes);
std::string mebibytes_there(Bytes bytes);

}  // namespace fairlead
