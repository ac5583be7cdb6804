// A spill file: space on a disk for data that leave memory. It has no name, so that nothing is left behind
// whatever ends the process; its space is set aside before it is needed, so that a full disk shows at the
// start of a run and not in the middle; and it is read and written past the page cache, which would otherwise
// take the memory that the limit forbids.
#pragma once
#include <fairlead/ids.hpp>

#include <string>

#include "memory/range_allocator.hpp"

namespace fairlead::backend {

/// Not for several threads at once; its descriptor may be read and written by any number of them meanwhile.
class SpillFile {
 public:
  /// Creates an empty file in `directory`. Throws SystemError, naming the directory, if that is not possible.
  explicit SpillFile(std::string directory);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  /// Sets `bytes` more aside (rounded to the alignment). Throws SystemError if the disk does not have them:
  /// it says how many it has, and the file stays as it was.
  void reserve(Bytes bytes);

  /// A slot of `bytes`, rounded to the alignment. If no hole of the file is large enough the file grows by
  /// what is missing, with the errors of `reserve`; after a `reserve` of all sizes, rounded, it does not
  /// grow.
  memory::Range allocate(Bytes bytes);
  /// Gives a slot back for other data; the file keeps its size. Throws UsageError if it is not held.
  void release(memory::Range slot) { slots_.release(slot); }

  int descriptor() const noexcept { return descriptor_; }
  /// Whether reads and writes go past the page cache (O_DIRECT). If not, IoThreads drops what they leave in
  /// it.
  bool direct() const noexcept { return direct_; }
  /// Of offsets, sizes and memory in bytes, 4,096 or a multiple of it; slots are cut by it.
  Bytes alignment() const noexcept { return slots_.unit(); }
  Bytes size() const noexcept { return slots_.capacity(); }
  Bytes used_bytes() const noexcept { return slots_.used_bytes(); }
  const std::string& directory() const noexcept { return directory_; }

 private:
  [[noreturn]] void refuse_space(Bytes bytes, int error_number) const;

  std::string directory_;
  int descriptor_ = -1;
  bool direct_ = false;
  memory::RangeAllocator slots_{0};
};

}  // namespace fairlead::backend
