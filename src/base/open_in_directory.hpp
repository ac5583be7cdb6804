// Opens a name relative to a directory that was opened and checked, so that a changed path has no effect. Defined in
// file_descriptor.cpp, like all functions that open files.
#pragma once
#include "base/file_descriptor.hpp"

namespace fairlead {

/// As ::openat, with O_CLOEXEC.
FileDescriptor open_file_in(const FileDescriptor& directory, const std::filesystem::path& name, int flags,
                            mode_t mode = 0666) noexcept;

}  // namespace fairlead
