// The plan of the shim: the failures that it injects into the program's file operations, and their counts. Shared by the
// test and the shim, a separate library.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::shim {

enum class FileOperation : std::uint8_t {
  read,        // pread, preadv
  write,       // pwrite, pwritev, write
  allocate,    // fallocate
  open,        // open, mkostemp
  sync,        // fsync, fdatasync, sync_file_range
  link,        // linkat
  rename,      // rename
  truncate,    // ftruncate
  map,         // mmap of anonymous memory
  close,       // close
  spill_read,  // those reads whose file has no name
  any,         // all of the above that concern files
};
inline constexpr std::size_t file_operation_count = 12;

enum class Effect : std::uint8_t {
  none,           // counts
  fail,           // with `number` as errno; nothing is done
  part,           // reads or writes a part
  byte,           // reads or writes one byte, also with direct I/O
  end,            // reads nothing, as at the end of the file
  flip,           // reads, and changes bit `number` of what was read
  signal_before,  // sends itself the signal `number`
  signal_after,
};

/// In a file that both sides map. `after` calls of `operation` pass unchanged, then `times` calls are changed.
struct ShimPlan {
  FileOperation operation{};
  Effect effect{};
  bool no_unnamed_files = false;  ///< O_TMPFILE also fails, as on some file systems
  std::uint64_t number = 0;
  std::uint64_t after = 0, times = 0;
  // Results.
  std::atomic<std::uint64_t> calls[file_operation_count]{};
  std::atomic<std::uint64_t> done{};  ///< number of changed calls
};

/// The environment variable that names the file.
inline constexpr const char* shim_variable = "SHIM_PLAN";

}  // namespace fairlead::shim
