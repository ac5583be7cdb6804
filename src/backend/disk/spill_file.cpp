// How a file without a name, with space of its own and without the page cache is got from Linux's file
// systems.
#include "backend/disk/spill_file.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace fairlead::backend {
namespace {

constexpr Bytes smallest_alignment = 4096;

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// Nothing if there is no memory.
std::unique_ptr<void, FreeMemory> zeros(Bytes bytes, Bytes alignment) {
  std::unique_ptr<void, FreeMemory> memory(std::aligned_alloc(alignment, bytes));
  if (memory) std::memset(memory.get(), 0, bytes);
  return memory;
}

int open_unnamed(const std::string& directory) {
  const int unnamed = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // A directory that is missing or closed to us gives its reason in the second attempt too.
  if (unnamed >= 0) return unnamed;
  std::string path = directory + "/.fairlead-spill-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

// What direct I/O on this file asks of offsets and memory; 0 = the file system says that it has none, and
// nothing is known before Linux 6.1.
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

// Some file systems take the flag and refuse the first write: so one is tried. A full disk is no answer to
// this question; `reserve` meets it.
bool takes_direct_writes(int descriptor, Bytes alignment) {
  const auto block = zeros(alignment, alignment);
  if (!block) return false;
  const bool refused =
      pwrite(descriptor, block.get(), alignment, 0) < 0 && errno != ENOSPC && errno != EDQUOT;
  return ftruncate(descriptor, 0) == 0 && !refused;
}

// 0, or the error number.
int write_zeros(int descriptor, Bytes from, Bytes to, Bytes alignment) {
  const Bytes most = std::max(Bytes{1} << 20, alignment);
  const auto block = zeros(most, alignment);
  if (!block) return ENOMEM;
  while (from < to) {
    const ssize_t written =
        pwrite(descriptor, block.get(), std::min(most, to - from), static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    from += static_cast<Bytes>(written);
  }
  return fdatasync(descriptor) == 0 ? 0 : errno;  // or a network file system tells of a full disk much later
}

// 0, or the error number.
int set_aside(int descriptor, Bytes from, Bytes to, Bytes alignment) {
  for (;;) {
    if (fallocate(descriptor, 0, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0) return 0;
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeros(descriptor, from, to, alignment);
    return errno;
  }
}

std::string readable(Bytes bytes) {
  return fmt::format("{} bytes ({:.1f} MiB)", bytes, static_cast<double>(bytes) / 0x1p20);
}

}  // namespace

SpillFile::SpillFile(std::string directory) : directory_(std::move(directory)) {
  descriptor_ = open_unnamed(directory_);
  if (descriptor_ < 0)
    throw SystemError(
        fmt::format("cannot create a spill file in the directory \"{}\": {}.\n"
                    "  Name a directory that exists, is on a disk and can be written to.",
                    directory_, std::strerror(errno)));
  const Bytes alignment = direct_alignment(descriptor_);
  direct_ = alignment > 0 && set_direct(descriptor_, true) && takes_direct_writes(descriptor_, alignment);
  if (!direct_) set_direct(descriptor_, false);
  if (direct_) slots_ = memory::RangeAllocator(0, alignment);
}

SpillFile::~SpillFile() { close(descriptor_); }

void SpillFile::reserve(Bytes bytes) {
  const Bytes added = slots_.rounded(bytes), before = size();
  if (added == 0) return;
  if (added > static_cast<Bytes>(std::numeric_limits<off_t>::max()) - before) refuse_space(added, EFBIG);
  const int error_number = set_aside(descriptor_, before, before + added, alignment());
  if (error_number != 0) {
    // What was got before the disk was full is given back: the file is as it was.
    [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(before));
    refuse_space(added, error_number);
  }
  try {
    slots_.grow(added);
  } catch (...) {  // more than slots are numbered for, or no memory
    [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(before));
    throw;
  }
}

memory::Range SpillFile::allocate(Bytes bytes) {
  if (const auto slot = slots_.allocate(bytes)) return *slot;
  reserve(bytes);
  return *slots_.allocate(bytes);
}

void SpillFile::refuse_space(Bytes bytes, int error_number) const {
  struct statvfs disk {};
  std::string has = "an unknown number of bytes";
  if (fstatvfs(descriptor_, &disk) == 0) has = readable(Bytes{disk.f_bavail} * disk.f_frsize);
  throw SystemError(
      fmt::format("the spill file in the directory \"{}\" needs {} more, beside the {} that it has; free on "
                  "that disk: {} ({}).\n"
                  "  Make room there, name a directory on a larger disk, or allow more memory.",
                  directory_, readable(bytes), readable(size()), has, std::strerror(error_number)));
}

}  // namespace fairlead::backend
