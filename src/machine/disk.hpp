// The disk behind a directory: what file system, how much room, and whether direct I/O works there. Found by
// trying, with a file that has no name.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

namespace fairlead::machine {

struct Disk {
  std::string directory;    ///< absolute, links followed
  std::string file_system;  ///< "ext4"
  std::string mounted_at;
  bool in_memory = false;  ///< tmpfs and the like: what is written there takes memory
  Bytes total_bytes = 0;
  Bytes free_bytes = 0;  ///< for this user
  bool writable = false;
  std::string not_writable_because;  ///< what the system says
  bool direct_io = false;            ///< a write and a read past the page cache have worked
  Bytes offset_alignment_bytes = 0;  ///< of offsets and lengths for direct I/O; 0 without it
  Bytes memory_alignment_bytes = 0;  ///< of buffers for direct I/O
  bool alignment_told = false;       ///< by the kernel (statx, Linux 6.1); otherwise found by trying
};

/// Which disk that is, in words that stay the same from run to run: "ext4 at /scratch". Touches nothing.
std::string place_of_disk(const std::string& directory);

/// Throws SystemError if the directory does not exist or is none.
Disk disk_of(const std::string& directory);

}  // namespace fairlead::machine
