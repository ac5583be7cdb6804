// Files that are written beside their place and renamed there, and what is left of them by processes that
// were killed meanwhile.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace fairlead {

/// The name beside `path` under which this process writes what is to come there.
std::filesystem::path name_while_written(const std::filesystem::path& path);

/// Makes a file of that name that nobody else has or leads elsewhere: what is there is left by a process
/// that was killed, or put there by somebody who would have another file overwritten. As long as it is open
/// it is locked, so that nobody takes it for left over. Empty with errno if it cannot be made.
FileDescriptor make_to_be_renamed(const std::filesystem::path& path);

/// Removes what is left in the directory of files whose names are `ours`. What is being written stays. Where
/// the file system has no locks, so does the rest.
void remove_left_over(const std::filesystem::path& directory,
                      const std::function<bool(std::string_view name)>& ours);

}  // namespace fairlead
