// Opens a name in a directory that has been opened and examined, so that the path cannot lead elsewhere in between. Defined in
// file_descriptor.cpp, with all that opens.
#pragma once
#include "base/file_descriptor.hpp"

namespace fairlead {

/// As ::openat, and closed when another program is started.
FileDescriptor open_file_in(const FileDescriptor& directory, const std::filesystem::path& name, int flags,
                            mode_t mode = 0666) noexcept;

}  // namespace fairlead
