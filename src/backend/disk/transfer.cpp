// Complete transfers with pread, pwrite and their vectored variants.
#include "backend/disk/transfer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/file_descriptor.hpp"
#include "base/interruptions.hpp"

namespace fairlead::backend {
namespace {

constexpr Bytes smallest_sector = 512;

ssize_t once(int descriptor, off_t offset, std::span<const iovec> parts, IoDirection direction) {
  const auto& [memory, bytes] = parts.front();
  const int count = static_cast<int>(parts.size());
  if (direction == IoDirection::read)
    return count == 1 ? pread(descriptor, memory, bytes, offset)
                      : preadv(descriptor, parts.data(), count, offset);
  return count == 1 ? pwrite(descriptor, memory, bytes, offset)
                    : pwritev(descriptor, parts.data(), count, offset);
}

// Removes the first `bytes` bytes, and parts that are then empty.
std::span<iovec> without_first(std::span<iovec> parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + bytes;
    parts.front().iov_len -= bytes;
  }
  return parts;
}

// Writes go to the page cache first. Waiting for the disk here keeps the cache small and reports disk errors with the
// right request. Returns 0 or the errno.
int drop_from_page_cache(int descriptor, Bytes offset, Bytes bytes, IoDirection direction) {
  const auto from = static_cast<off_t>(offset), length = static_cast<off_t>(bytes);
  if (length == 0) return 0;  // for the calls below, 0 means "up to the end"
  if (direction == IoDirection::write &&
      sync_file_range(descriptor, from, length,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) !=
          0 &&
      (errno == EIO || errno == ENOSPC || errno == EDQUOT))
    return errno;  // other errors: no disk behind this descriptor
  drop_clean_pages(descriptor, offset, bytes);
  return 0;
}

/// Opens the same file through the page cache, which has no alignment. Empty if the system cannot open it again.
FileDescriptor through_page_cache(int descriptor, IoDirection direction) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  return open_file(path.data(), direction == IoDirection::read ? O_RDONLY : O_WRONLY);
}

}  // namespace

void drop_clean_pages(int descriptor, Bytes offset, Bytes bytes) noexcept {
  posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

TransferOutcome transfer_in_full(int descriptor, Bytes offset, std::span<iovec> parts, IoDirection direction,
                                 bool direct) {
  TransferOutcome outcome;
  Interruptions interruptions;
  FileDescriptor buffered;  // for the rest after a direct transfer that ended inside a sector
  parts = without_first(parts, 0);
  while (!parts.empty()) {
    const ssize_t moved = once(buffered ? buffered.get() : descriptor,
                               static_cast<off_t>(offset + outcome.bytes), parts, direction);
    if (moved > 0) {
      outcome.bytes += static_cast<Bytes>(moved);
      parts = without_first(parts, static_cast<std::size_t>(moved));
      interruptions.end();
      if (direct && !parts.empty() && static_cast<Bytes>(moved) % smallest_sector != 0 && !buffered)
        buffered = through_page_cache(descriptor, direction);
    } else if (moved == 0) {
      outcome.error_number = direction == IoDirection::read ? ENODATA : EIO;
      break;
    } else if (!interruptions.retry()) {
      // A direct read that met the end of the file inside a sector cannot be continued from there.
      const bool met_end =
          direct && direction == IoDirection::read && errno == EINVAL && outcome.bytes % smallest_sector != 0;
      outcome.error_number = met_end ? ENODATA : errno;
      break;
    }
  }
  if (!direct || buffered) {
    const int error_number = drop_from_page_cache(descriptor, offset, outcome.bytes, direction);
    if (outcome.error_number == 0) outcome.error_number = error_number;
  }
  return outcome;
}

}  // namespace fairlead::backend
