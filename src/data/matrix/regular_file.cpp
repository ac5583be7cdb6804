// Opens and reads files, and drops their pages from the cache.
#include "data/matrix/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fairlead/error.hpp>

#include "base/full_transfer.hpp"

namespace fairlead::data {
namespace {

FileVersion version_of(const struct stat& state) {
  return {.bytes = static_cast<Bytes>(state.st_size),
          .modified_at =
              std::chrono::seconds(state.st_mtim.tv_sec) + std::chrono::nanoseconds(state.st_mtim.tv_nsec)};
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path) : name_(path.string()) {
  // O_NONBLOCK, so that a pipe without a writer does not hang here.
  file_ = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file_)
    throw InputError(fmt::format("{}: cannot be opened for reading: {}", name_, std::strerror(errno)));
  struct stat state {};
  if (::fstat(file_.get(), &state) != 0)
    throw InputError(fmt::format("{}: cannot be examined: {}", name_, std::strerror(errno)));
  if (!S_ISREG(state.st_mode))
    throw InputError(fmt::format("{}: is {}, not a file", name_,
                                 S_ISDIR(state.st_mode) ? "a directory" : "a device or pipe"));
  version_ = version_of(state);
}

std::string RegularFile::read_some(Bytes offset, Bytes bytes) const {
  std::string text(bytes, '\0');
  const FullTransferResult got = read_fully_at(file_.get(), offset, std::as_writable_bytes(std::span(text)));
  if (got.error != 0)
    throw InputError(fmt::format("{}: cannot be read: {}", name_, std::strerror(got.error)));
  text.resize(got.bytes);
  return text;
}

void RegularFile::read(Bytes offset, std::span<std::byte> into) const {
  const Bytes begin = offset, bytes = into.size();
  const FullTransferResult got = read_fully_at(file_.get(), offset, into);
  offset += got.bytes;
  if (got.error != 0)
    throw SystemError(fmt::format("{}: cannot read {} bytes at byte {}: {}", name_, bytes - got.bytes, offset,
                                  std::strerror(got.error)));
  if (got.bytes < bytes)
    throw InputError(
        fmt::format("{}: has become shorter while it was read: it ends at byte {}", name_, offset));
  bytes_read_.fetch_add(bytes, std::memory_order_relaxed);  // a statistic: no thread synchronizes on it
  // The kernel caches files in folios of up to 2 MiB and drops only whole ones. So this drops also the folio in which
  // the previous read ended; the next read drops the one in which this read ended. Small reads keep their pages:
  // dropping the neighbours would cause repeated reads.
  constexpr Bytes page = 4096, largest_piece = Bytes{2} << 20, small = 64 * 1024;
  if (bytes < small) return;
  const Bytes from = begin / largest_piece * largest_piece, to = (offset + page - 1) / page * page;
  ::posix_fadvise(file_.get(), static_cast<off_t>(from), static_cast<off_t>(to - from), POSIX_FADV_DONTNEED);
}

bool RegularFile::changed() const noexcept {
  struct stat state {};
  return ::fstat(file_.get(), &state) == 0 && version_of(state) != version_;
}

void RegularFile::forget_pages() const noexcept { ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); }

}  // namespace fairlead::data
