// What the kernel says this process took: memory in RAM, and bytes really read from and written to disks.
// Beside the engine's own counts these show what the engine does not know of.
#pragma once
#include <fairlead/ids.hpp>

#include <filesystem>
#include <optional>

namespace fairlead::report {

/// The most memory that this process ever had in RAM at once (VmHWM of /proc/self/status): code, libraries
/// and pages of files mapped into memory included, the page cache not. Nothing if the kernel does not say.
/// `root`: where /proc is.
std::optional<Bytes> peak_resident_bytes(const std::filesystem::path& root = "/");

/// Of what this process has in RAM now: pages of files, which are its code and libraries (RssFile), and what
/// malloc has handed out, which are Fairlead's descriptors and tables, and whatever else the program has
/// there.
struct ResidentParts {
  Bytes files = 0;
  Bytes heap = 0;
};
/// Nothing if the kernel does not say.
std::optional<ResidentParts> resident_parts(const std::filesystem::path& root = "/");

/// What this process, all threads together, has made storage devices do since it began (/proc/self/io). What
/// the page cache answered is not counted; what it still has to write is.
struct DiskCounters {
  Bytes read = 0;
  Bytes written = 0;

  bool operator==(const DiskCounters&) const = default;
};
/// Nothing if the kernel does not say.
std::optional<DiskCounters> disk_counters(const std::filesystem::path& root = "/");
/// What happened from `before` on.
constexpr DiskCounters operator-(DiskCounters after, DiskCounters before) noexcept {
  return {after.read - before.read, after.written - before.written};
}

}  // namespace fairlead::report
