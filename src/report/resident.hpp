// The kernel's measurements of this process: memory in RAM, and bytes actually read from and written to disks. Compared
// with the engine's own counts they show usage outside the engine.
#pragma once
#include <fairlead/ids.hpp>

#include <filesystem>
#include <optional>

namespace fairlead::report {

/// The peak memory of this process in RAM (VmHWM of /proc/self/status): including code, libraries and pages of mapped
/// files, excluding the page cache. None if the kernel does not report it. `root`: the parent of /proc.
std::optional<Bytes> peak_resident_bytes(const std::filesystem::path& root = "/");

/// Parts of this process's current memory in RAM: pages of files, which are its code and libraries (RssFile), and
/// memory allocated by malloc, which are Fairlead's descriptors and tables and other data of the program.
struct ResidentParts {
  Bytes files = 0;
  Bytes heap = 0;
};
/// None if the kernel does not report them.
std::optional<ResidentParts> resident_parts(const std::filesystem::path& root = "/");

/// The I/O of this process on storage devices since its start, over all threads (/proc/self/io). Excludes reads from
/// the page cache; includes pending writes.
struct DiskCounters {
  Bytes read = 0;
  Bytes written = 0;

  bool operator==(const DiskCounters&) const = default;
};
/// None if the kernel does not report it.
std::optional<DiskCounters> disk_counters(const std::filesystem::path& root = "/");
/// The I/O since `before`.
constexpr DiskCounters operator-(DiskCounters after, DiskCounters before) noexcept {
  return {after.read - before.read, after.written - before.written};
}

}  // namespace fairlead::report
