// Creates an unnamed file with allocated space and direct I/O, on any of Linux's file systems.
#include "backend/disk/spill_file.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "backend/disk/aligned_memory.hpp"
#include "base/full_transfer.hpp"

namespace fairlead::backend {
namespace {

constexpr Bytes smallest_alignment = 4096;

// Null if there is no memory.
AlignedMemory zeros(Bytes bytes, Bytes alignment) {
  AlignedMemory memory = aligned_memory(bytes, alignment);
  if (memory) std::memset(memory.get(), 0, bytes);
  return memory;
}

// The alignment that direct I/O on this file requires of offsets and memory; 0: the file system reports that it has
// no direct I/O. Before Linux 6.1 there is no report: assumes smallest_alignment.
Bytes direct_alignment([[maybe_unused]] int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx attributes {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &attributes) == 0 &&
      (attributes.stx_mask & STATX_DIOALIGN) != 0) {
    if (attributes.stx_dio_offset_align == 0) return 0;
    return std::max<Bytes>(
        {smallest_alignment, attributes.stx_dio_offset_align, attributes.stx_dio_mem_align});
  }
#endif
  return smallest_alignment;
}

bool set_direct(int descriptor, bool on) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && fcntl(descriptor, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

// Some file systems accept the flag and fail the first write, so one is tried. A full disk does not count as failure
// here; reserve() detects it.
bool takes_direct_writes(int descriptor, Bytes alignment) {
  const auto block = zeros(alignment, alignment);
  if (!block) return false;
  const bool refused =
      pwrite(descriptor, block.get(), alignment, 0) < 0 && errno != ENOSPC && errno != EDQUOT;
  return ftruncate(descriptor, 0) == 0 && !refused;
}

constexpr Bytes small = Bytes{64} << 10, set_aside_at_once = Bytes{1} << 20;

// Returns 0 or the errno.
int write_zeros(int descriptor, Bytes from, Bytes to, Bytes alignment) {
  const Bytes most = std::max(Bytes{1} << 20, alignment);
  const auto block = zeros(most, alignment);
  if (!block) return ENOMEM;
  while (from < to) {
    const Bytes bytes = std::min(most, to - from);
    const FullTransferResult written =
        write_fully_at(descriptor, from, {reinterpret_cast<const std::byte*>(block.get()), bytes});
    if (written.bytes < bytes) return written.error != 0 ? written.error : ENOSPC;
    from += bytes;
  }
  return fdatasync(descriptor) == 0 ? 0 : errno;  // otherwise a network file system reports a full disk much
                                                  // later
}

// Returns 0 or the errno. Bytes before `end` may have been written and are not changed: if zeros must be written, an
// earlier failure there is not repaired.
int take_space(int descriptor, Bytes from, Bytes end, Bytes to, Bytes alignment) {
  const int error_number = allocate_space(descriptor, from, to);
  if (error_number != EOPNOTSUPP && error_number != ENOSYS) return error_number;
  return write_zeros(descriptor, end, to, alignment);
}

std::string readable(Bytes bytes) {
  return fmt::format("{} bytes ({:.1f} MiB)", bytes, static_cast<double>(bytes) / 0x1p20);
}

}  // namespace

SpillFile::SpillFile(std::string directory, Bytes fits_in_memory)
    : directory_(std::move(directory)), fits_in_memory_(fits_in_memory) {
  try {
    open();
  } catch (const SystemError&) {
    if (fits_in_memory == 0) throw;
    missing_ = std::current_exception();
  }
}

void SpillFile::open() {
  file_ = open_nameless_file(directory_);
  if (!file_) {
    const int error = errno;
    throw SystemError(fmt::format(
        "cannot create a spill file in the directory \"{}\": {}.\n"
        "  Name a directory that exists, is on a disk and can be written to.",
        directory_, is_removed_directory(directory_) ? "it has been removed" : std::strerror(error)));
  }
  use_direct_io();
}

SpillFile::SpillFile(std::string directory, FileDescriptor file)
    : directory_(std::move(directory)), fits_in_memory_(0), file_(std::move(file)) {
  use_direct_io();
  places_ = std::make_unique<SlotPlaces>(alignment());
}

void SpillFile::use_direct_io() {
  const Bytes alignment = direct_alignment(file_.get());
  direct_ = alignment > 0 && set_direct(file_.get(), true) && takes_direct_writes(file_.get(), alignment);
  if (!direct_) set_direct(file_.get(), false);
  if (direct_) slots_ = memory::RangeAllocator(0, alignment);
}

void SpillFile::reserve(Bytes bytes) {
  constexpr auto most = static_cast<Bytes>(std::numeric_limits<off_t>::max());
  const Bytes rounded = slots_.rounded(bytes), before = size();
  if (rounded == 0) return;
  if (rounded > most / places_per_slot()) refuse_space(rounded, EFBIG);
  const Bytes added = rounded * places_per_slot();
  const bool needed = added > fits_in_memory_ || before > fits_in_memory_ - added;
  if (needed && missing_) std::rethrow_exception(missing_);
  if (added > most - before) refuse_space(added, EFBIG);
  const int error_number =
      missing_ ? 0 : take_space(file_.get(), set_aside_, before, before + added, alignment());
  // Truncates the file to its former size when the disk is full. Slots up to `before` may have been written, even
  // where no space was allocated for them.
  const auto give_back = [&] {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0 || status.st_size <= static_cast<off_t>(before)) return;
    [[maybe_unused]] const int ignored = ftruncate(file_.get(), static_cast<off_t>(before));
  };
  if (error_number != 0) {
    give_back();
    if (needed) refuse_space(before + added - set_aside_, error_number);
  }
  try {
    slots_.grow(added);
  } catch (...) {  // too many slots to number, or no memory
    give_back();
    throw;
  }
  if (error_number == 0) set_aside_ = before + added;
}

void SpillFile::release(memory::ByteRange slot) {
  places_ != nullptr ? released_.push_back(slot) : slots_.release(slot);
}

void SpillFile::free_released() {
  for (const memory::ByteRange slot : std::exchange(released_, {})) {
    places_->forget(slot.offset);
    slots_.release(with_all_places(slot));
  }
}

memory::ByteRange SpillFile::allocate(Bytes bytes) {
  const auto allocated = [&]() -> std::optional<memory::ByteRange> {
    const Bytes rounded = slots_.rounded(bytes);
    if (rounded > slots_.capacity()) return std::nullopt;
    const auto all = slots_.allocate(rounded * places_per_slot());
    if (!all) return std::nullopt;
    return memory::ByteRange{all->offset, all->bytes / places_per_slot()};
  };
  if (const auto slot = allocated()) return *slot;
  // With many small data, one system call per datum would dominate the cost.
  const bool several = bytes < small && size() >= set_aside_at_once;
  try {
    reserve(several ? set_aside_at_once : bytes);
  } catch (const SystemError&) {
    if (!several) throw;
    reserve(bytes);
  }
  return *allocated();
}

void SpillFile::refuse_space(Bytes bytes, int error_number) const {
  struct statvfs disk {};
  std::string has = "an unknown number of bytes";
  if (fstatvfs(file_.get(), &disk) == 0) has = readable(Bytes{disk.f_bavail} * disk.f_frsize);
  throw SystemError(
      fmt::format("the spill file in the directory \"{}\" needs {} more, in addition to its {}; free on "
                  "that disk: {} ({}).\n"
                  "  Make room there, name a directory on a larger disk, or allow more memory.",
                  directory_, readable(bytes), readable(set_aside_), has, std::strerror(error_number)));
}

}  // namespace fairlead::backend
