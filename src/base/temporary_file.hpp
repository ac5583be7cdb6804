// Files written under a temporary name and then renamed, and the removal of temporary files that killed processes
// left.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace fairlead {

/// The temporary name under which this process writes the file `path`.
std::filesystem::path temporary_name(const std::filesystem::path& path);

/// Makes a file of that name in the directory, mode 0644, and locks it while it is open, so that remove_stale()
/// keeps it. An existing file is removed first and links are not followed: it is a leftover of a killed process, or
/// planted to have another file overwritten. Empty, with errno, on failure.
FileDescriptor make_temporary(const FileDescriptor& directory, const std::filesystem::path& name);

/// "kept.txt" for "kept.txt.4711.new", as made by temporary_name(); empty for other names.
std::string_view final_name(std::string_view name) noexcept;

/// Locks the file while it is open, so that remove_stale() keeps it. False if another process has already removed
/// it.
bool lock_while_written(const FileDescriptor& file) noexcept;

/// Removes the unlocked files of the directory whose names satisfy `ours`. If the file system has no locks, all stay.
void remove_stale(const std::filesystem::path& directory,
                  const std::function<bool(std::string_view name)>& ours);

}  // namespace fairlead
