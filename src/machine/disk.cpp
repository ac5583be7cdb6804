// See disk.hpp.
#include "machine/disk.hpp"

#include <fairlead/error.hpp>

#include "base/file_descriptor.hpp"
#include "machine/mounts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

namespace fairlead::machine {

namespace {

// Whether writing and reading a block of `bytes`, at offset `bytes`, succeeds.
bool block_goes_through(int file, Bytes bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t room = std::max<std::size_t>(page, bytes);
  const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(page, room), &std::free);
  if (!buffer) return false;
  std::memset(buffer.get(), 0x5a, room);
  const auto count = static_cast<ssize_t>(bytes);
  const auto offset = static_cast<off_t>(bytes);
  return pwrite(file, buffer.get(), bytes, offset) == count &&
         pread(file, buffer.get(), bytes, offset) == count;
}

void try_direct_io(Disk& disk) {
  const FileDescriptor file = open_nameless_file(disk.directory, O_DIRECT);
  if (!file) return;
#ifdef STATX_DIOALIGN
  struct statx attributes {};
  if (statx(file.get(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &attributes) == 0 &&
      (attributes.stx_mask & STATX_DIOALIGN) != 0 && attributes.stx_dio_offset_align != 0 &&
      block_goes_through(file.get(), attributes.stx_dio_offset_align)) {
    disk.direct_io = disk.alignment_reported = true;
    disk.offset_alignment_bytes = attributes.stx_dio_offset_align;
    disk.memory_alignment_bytes = attributes.stx_dio_mem_align;
    return;
  }
#endif
  for (const Bytes alignment : {512, 4096}) {
    if (!block_goes_through(file.get(), alignment)) continue;
    disk.direct_io = true;
    disk.offset_alignment_bytes = disk.memory_alignment_bytes = alignment;
    return;
  }
}

// Whether `directory` is `point` or below it.
bool is_below(const std::string& directory, const std::string& point) {
  if (!directory.starts_with(point)) return false;
  return point == "/" || directory.size() == point.size() || directory[point.size()] == '/';
}

/// The type of the file system if no mount point contains the directory, as after chroot.
std::string file_system_by_number(const std::string& directory) {
  struct statfs status {};
  if (statfs(directory.c_str(), &status) != 0) return "unknown";
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case EXT4_SUPER_MAGIC:
      return "ext4";
    case XFS_SUPER_MAGIC:
      return "xfs";
    case BTRFS_SUPER_MAGIC:
      return "btrfs";
    case OVERLAYFS_SUPER_MAGIC:
      return "overlay";
    case NFS_SUPER_MAGIC:
      return "nfs";
    case TMPFS_MAGIC:
      return "tmpfs";
    case RAMFS_MAGIC:
      return "ramfs";
    default:
      return fmt::format("unknown (number {:#x})", static_cast<std::uint32_t>(status.f_type));
  }
}

/// The type of the file system, and its mount point.
std::pair<std::string, std::string> file_system_of(const std::string& directory) {
  std::pair<std::string, std::string> found;
  // The longest matching path; among equals the last one, which hides the others.
  for (const Mount& mount : read_mounts(SystemFiles())) {
    if (!is_below(directory, mount.point) || mount.point.size() < found.second.size()) continue;
    found = {mount.type, mount.point};
  }
  if (found.first.empty()) found.first = file_system_by_number(directory);
  return found;
}

}  // namespace

std::string disk_label(const std::string& directory) {
  std::error_code error;
  const auto path = std::filesystem::canonical(directory, error);
  if (error) return directory;
  const auto [kind, mounted_at] = file_system_of(path.string());
  return mounted_at.empty() ? kind : fmt::format("{} at {}", kind, mounted_at);
}

Disk disk_of(const std::string& directory) {
  Disk disk;
  std::error_code error;
  disk.directory = std::filesystem::canonical(directory, error).string();
  if (!error && !std::filesystem::is_directory(disk.directory))
    error = std::make_error_code(std::errc::not_a_directory);
  struct statvfs room {};
  if (!error && statvfs(disk.directory.c_str(), &room) != 0)
    error = std::error_code(errno, std::generic_category());
  if (error) throw SystemError(fmt::format("cannot use the directory {}: {}", directory, error.message()));
  disk.total_bytes = Bytes(room.f_blocks) * room.f_frsize;
  disk.free_bytes = Bytes(room.f_bavail) * room.f_frsize;
  std::tie(disk.file_system, disk.mounted_at) = file_system_of(disk.directory);
  disk.in_memory = disk.file_system == "tmpfs" || disk.file_system == "ramfs";
  const FileDescriptor file = open_nameless_file(disk.directory);
  disk.writable = bool(file);
  if (!file) disk.write_error = std::generic_category().message(errno);
  if (disk.writable) try_direct_io(disk);
  return disk;
}

}  // namespace fairlead::machine
