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

/// Makes a file of that name in the directory, for this user to write and all to read, that nobody else has or leads elsewhere: what is there is left by a process
/// that was killed, or put there by somebody who would have another file overwritten. As long as it is open
/// it is locked, so that nobody takes it for left over. Empty with errno if it cannot be made.
FileDescriptor make_to_be_renamed(const FileDescriptor& directory, const std::filesystem::path& name);

/// "kept.txt" of "kept.txt.4711.new", as name_while_written() makes it; else nothing.
std::string_view name_once_written(std::string_view name) noexcept;

/// Marks the file as being written, so that nobody takes it for left over, as long as it is open. False if
/// somebody was quicker, and it is gone.
bool lock_while_written(const FileDescriptor& file) noexcept;

/// Removes those files of the directory whose names are `ours` and that nobody is writing. Where the file
/// system has no locks, all stay.
void remove_left_over(const std::filesystem::path& directory,
                      const std::function<bool(std::string_view name)>& ours);

}  // namespace fairlead
