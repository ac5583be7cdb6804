// The spill file: disk space for data evicted from memory. It is unnamed, so nothing is left behind however the
// process ends; only with checkpoints it has a name, since they refer to it. Its space is allocated in advance, so that
// a full disk is an error at the start of a run. It uses direct I/O, since the page cache would take memory beyond the
// limit.
#pragma once
#include <fairlead/ids.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/disk/slot_places.hpp"
#include "base/file_descriptor.hpp"
#include "memory/range_allocator.hpp"

namespace fairlead::backend {

/// Not thread-safe; but any number of threads may use its descriptor at the same time.
class SpillFile {
 public:
  /// Creates an empty file in `directory`. Nothing is written as long as the slots together have at most
  /// `fits_in_memory` bytes; until then a missing file or missing space is no error. Throws SystemError, naming the
  /// directory, if a file is needed and impossible.
  explicit SpillFile(std::string directory, Bytes fits_in_memory = 0);
  /// For checkpoints: an open, empty file in `directory`, which keeps its name. Its slots have two places each, so it takes
  /// twice the space.
  SpillFile(std::string directory, FileDescriptor file);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Allocates `bytes` more (rounded to the alignment). Throws SystemError if the disk lacks the space, with the
  /// number of free bytes; the file is then unchanged.
  void reserve(Bytes bytes);
  /// Ensures that the given number of bytes is free in total, in any number of holes, by reserve() of the
  /// difference.
  void make_room(Bytes bytes) {
    const Bytes free = slots_.free_bytes() / places_per_slot();
    if (bytes > free) reserve(bytes - free);
  }

  /// A slot of `bytes`, rounded to the alignment. If no hole is large enough, the file grows by the missing bytes,
  /// with the errors of reserve(). After a reserve() of all rounded sizes it does not grow.
  memory::ByteRange allocate(Bytes bytes);
  /// Frees a slot; the file keeps its size. Throws UsageError if the slot is not allocated. With checkpoints, the slot
  /// becomes free with the next checkpoint: the last one may refer to it.
  void release(memory::ByteRange slot);
  /// A checkpoint that does not refer to released slots is complete.
  void free_released();
  /// The places of slots; null: without checkpoints.
  SlotPlaces* places() noexcept { return places_.get(); }

  /// -1 if there is no file; then missing() is the reason.
  int descriptor() const noexcept { return file_.get(); }
  std::exception_ptr missing() const noexcept { return missing_; }
  /// Whether I/O bypasses the page cache (O_DIRECT). If not, IoThreads drops the pages.
  bool direct() const noexcept { return direct_; }
  /// Alignment of offsets, sizes and memory in bytes, a multiple of 4,096; the unit of slots.
  Bytes alignment() const noexcept { return slots_.unit(); }
  Bytes size() const noexcept { return slots_.capacity(); }
  Bytes used_bytes() const noexcept { return slots_.used_bytes(); }
  const std::string& directory() const noexcept { return directory_; }

 private:
  void open();
  void use_direct_io();
  Bytes places_per_slot() const noexcept { return places_ ? 2 : 1; }
  memory::ByteRange with_all_places(memory::ByteRange slot) const noexcept {
    return {slot.offset, slot.bytes * places_per_slot()};
  }
  [[noreturn]] void refuse_space(Bytes bytes, int error_number) const;

  std::string directory_;
  Bytes fits_in_memory_;
  FileDescriptor file_;
  std::exception_ptr missing_;
  Bytes set_aside_ = 0;  // bytes of the file with allocated disk space
  bool direct_ = false;
  memory::RangeAllocator slots_{0};
  std::unique_ptr<SlotPlaces> places_;
  std::vector<memory::ByteRange> released_;  // still allocated
};

}  // namespace fairlead::backend
