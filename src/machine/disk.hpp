// The disk of a directory: its file system, free space, and whether direct I/O works, which is tested with an unnamed
// temporary file.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

namespace fairlead::machine {

struct Disk {
  std::string directory;    ///< absolute, with symbolic links resolved
  std::string file_system;  ///< "ext4"
  std::string mounted_at;
  bool in_memory = false;  ///< tmpfs or ramfs: files use memory
  Bytes total_bytes = 0;
  Bytes free_bytes = 0;  ///< available to this user
  bool writable = false;
  std::string write_error;           ///< the system's error message
  bool direct_io = false;            ///< a write and a read that bypass the page cache have succeeded
  Bytes offset_alignment_bytes = 0;  ///< of offsets and lengths in direct I/O; 0 without it
  Bytes memory_alignment_bytes = 0;  ///< of buffers in direct I/O
  bool alignment_reported = false;   ///< reported by the kernel (statx, Linux 6.1); otherwise found by trying
};

/// A description of the disk that is the same in every run: "ext4 at /scratch". Creates no file.
std::string disk_label(const std::string& directory);

/// Throws SystemError if the path does not exist or is not a directory.
Disk disk_of(const std::string& directory);

}  // namespace fairlead::machine
