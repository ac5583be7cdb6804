// A spill file: space on a disk for data that leave memory. It has no name, so that nothing is left behind
// whatever ends the process; its space is set aside before it is needed, so that a full disk shows at the
// start of a run and not in the middle; and it is read and written past the page cache, which would otherwise
// take the memory that the limit forbids.
#pragma once
#include <fairlead/ids.hpp>

#include <exception>
#include <string>

#include "base/file_descriptor.hpp"
#include "memory/range_allocator.hpp"

namespace fairlead::backend {

/// Not for several threads at once; its descriptor may be read and written by any number of them meanwhile.
class SpillFile {
 public:
  /// Creates an empty file in `directory`. As long as what has a place in it comes to no more than
  /// `fits_in_memory`, nothing needs to be written: until then it does not matter if there is no file, or no
  /// space for it. Throws SystemError, naming the directory, if a file is needed and not possible.
  explicit SpillFile(std::string directory, Bytes fits_in_memory = 0);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Sets `bytes` more aside (rounded to the alignment). Throws SystemError if the disk does not have them:
  /// it says how many it has, and the file stays as it was.
  void reserve(Bytes bytes);
  /// So many bytes are free in it, in holes together: `reserve` of what is missing. What others gave back serves again.
  void make_room(Bytes bytes) {
    if (bytes > slots_.free_bytes()) reserve(bytes - slots_.free_bytes());
  }

  /// A slot of `bytes`, rounded to the alignment. If no hole of the file is large enough the file grows by
  /// what is missing, with the errors of `reserve`; after a `reserve` of all sizes, rounded, it does not
  /// grow.
  memory::Range allocate(Bytes bytes);
  /// Gives a slot back for other data; the file keeps its size. Throws UsageError if it is not held.
  void release(memory::Range slot) { slots_.release(slot); }

  /// -1 if there is no file; then missing() says why.
  int descriptor() const noexcept { return file_.get(); }
  std::exception_ptr missing() const noexcept { return missing_; }
  /// Whether reads and writes go past the page cache (O_DIRECT). If not, IoThreads drops what they leave in
  /// it.
  bool direct() const noexcept { return direct_; }
  /// Of offsets, sizes and memory in bytes, 4,096 or a multiple of it; slots are cut by it.
  Bytes alignment() const noexcept { return slots_.unit(); }
  Bytes size() const noexcept { return slots_.capacity(); }
  Bytes used_bytes() const noexcept { return slots_.used_bytes(); }
  const std::string& directory() const noexcept { return directory_; }

 private:
  void open();
  [[noreturn]] void refuse_space(Bytes bytes, int error_number) const;

  std::string directory_;
  Bytes fits_in_memory_;
  FileDescriptor file_;
  std::exception_ptr missing_;
  Bytes set_aside_ = 0;  // so much of the file has space on the disk
  bool direct_ = false;
  memory::RangeAllocator slots_{0};
};

}  // namespace fairlead::backend
