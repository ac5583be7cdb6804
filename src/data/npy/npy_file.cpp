// Opens .npy files. All that can be wrong with a file is detected here, before any work starts.
#include "data/npy/npy_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fairlead/error.hpp>
#include <span>
#include <string>

#include "base/full_transfer.hpp"

namespace fairlead::data {
namespace {

/// Headers of matrices have 128 bytes; a file that claims more than this is not a matrix.
constexpr Bytes longest_dictionary = Bytes{1} << 20;

std::chrono::nanoseconds modified_at(const struct stat& state) {
  return std::chrono::seconds(state.st_mtim.tv_sec) + std::chrono::nanoseconds(state.st_mtim.tv_nsec);
}

/// The existing bytes of [offset, offset + bytes).
std::string read_some(int file, Bytes offset, Bytes bytes, const std::string& name) {
  std::string text(bytes, '\0');
  const FullTransferResult got = read_fully_at(file, offset, std::as_writable_bytes(std::span(text)));
  if (got.error != 0) throw InputError(fmt::format("{}: cannot be read: {}", name, std::strerror(got.error)));
  text.resize(got.bytes);
  return text;
}

}  // namespace

NpyFile::NpyFile(const std::filesystem::path& path) : path_(path) {
  const std::string name = path.string();
  // O_NONBLOCK, so that a pipe without a writer does not hang here.
  file_ = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file_)
    throw InputError(fmt::format("{}: cannot be opened for reading: {}", name, std::strerror(errno)));
  struct stat state {};
  if (::fstat(file_.get(), &state) != 0)
    throw InputError(fmt::format("{}: cannot be examined: {}", name, std::strerror(errno)));
  if (!S_ISREG(state.st_mode))
    throw InputError(fmt::format("{}: is {}, not a file", name,
                                 S_ISDIR(state.st_mode) ? "a directory" : "a device or pipe"));
  const auto file_bytes = static_cast<Bytes>(state.st_size);
  file_bytes_ = file_bytes;
  modified_at_ = modified_at(state);

  const auto preamble = parse_npy_preamble(read_some(file_.get(), 0, NpyPreamble::longest, name), name);
  const Bytes data_offset = preamble.bytes + preamble.dictionary;
  if (file_bytes < data_offset)
    throw InputError(
        fmt::format("{}: is truncated: it has {} bytes and the header alone promises {} ({} are missing)",
                    name, file_bytes, data_offset, data_offset - file_bytes));
  if (preamble.dictionary > longest_dictionary)
    throw InputError(
        fmt::format("{}: has a header of {} bytes, which no matrix needs", name, preamble.dictionary));
  header_ = parse_npy_dictionary(read_some(file_.get(), preamble.bytes, preamble.dictionary, name), name);
  header_.data_offset = data_offset;

  const auto shape = shape_text(header_.shape);
  if (header_.shape.empty() || header_.shape.size() > 2)
    throw InputError(fmt::format("{}: has {} dimensions, shape {}; a matrix (2) or a vector (1) is needed",
                                 name, header_.shape.size(), shape));
  if (header_.elements() == 0) throw InputError(fmt::format("{}: is empty: its shape is {}", name, shape));
  const Bytes promised = data_offset + header_.data_bytes();
  if (file_bytes < promised)
    throw InputError(fmt::format(
        "{}: is truncated: it has {} bytes, and its header promises {} for the shape {} ({} are missing)",
        name, file_bytes, promised, shape, promised - file_bytes));
}

void NpyFile::read_bytes(Bytes offset, std::span<std::byte> into) const {
  const Bytes begin = offset, bytes = into.size();
  const FullTransferResult got = read_fully_at(file_.get(), offset, into);
  offset += got.bytes;
  if (got.error != 0)
    throw SystemError(fmt::format("{}: cannot read {} bytes at byte {}: {}", path_.string(),
                                  bytes - got.bytes, offset, std::strerror(got.error)));
  if (got.bytes < bytes)
    throw InputError(
        fmt::format("{}: has become shorter while it was read: it ends at byte {}", path_.string(), offset));
  bytes_read_->fetch_add(bytes, std::memory_order_relaxed);  // a statistic: no thread synchronizes on it
  // The kernel caches files in folios of up to 2 MiB and drops only whole ones. So this drops also the folio in which
  // the previous read ended; the next read drops the one in which this read ended. Small reads keep their pages:
  // dropping the neighbours would cause repeated reads.
  constexpr Bytes page = 4096, largest_piece = Bytes{2} << 20, small = 64 * 1024;
  if (bytes < small) return;
  const Bytes from = begin / largest_piece * largest_piece, to = (offset + page - 1) / page * page;
  ::posix_fadvise(file_.get(), static_cast<off_t>(from), static_cast<off_t>(to - from), POSIX_FADV_DONTNEED);
}

const std::byte* NpyFile::kept(std::uint64_t first, std::uint64_t lines, std::uint64_t stride,
                               std::uint64_t along) const {
  const Bytes size = bytes_of(element());
  if (!kept_ || (first + (lines - 1) * stride + along) * size > kept_->size()) return nullptr;
  for (std::uint64_t line = 0; line < lines; ++line) kept_->at((first + line * stride) * size, along * size);
  return kept_->at(first * size, 0);
}

NpyFile NpyFile::twin() const {
  NpyFile other;
  other.path_ = path_;
  if (file_) other.file_ = duplicate(file_);
  if (file_ && !other.file_)
    throw SystemError(fmt::format("{}: cannot be opened twice: {}", path_.string(), std::strerror(errno)));
  other.bytes_read_ = bytes_read_;
  other.file_bytes_ = file_bytes_;
  other.modified_at_ = modified_at_;
  other.header_ = header_;
  other.kept_ = kept_;
  return other;
}

std::shared_ptr<const NpyFile> NpyFile::keeping(Bytes bytes) const {
  auto other = std::make_shared<NpyFile>(twin());
  const auto file = std::make_shared<const NpyFile>(twin());
  other->kept_ = std::make_shared<KeptBytes>(std::min(bytes, header_.data_bytes()),
                                             [file](Bytes offset, std::span<std::byte> into) {
                                               file->read_bytes(file->header_.data_offset + offset, into);
                                             });
  return other;
}

NpyFile NpyFile::transposed() const {
  NpyFile other = twin();
  other.header_.order = order() == StorageOrder::c ? StorageOrder::fortran : StorageOrder::c;
  std::ranges::reverse(other.header_.shape);
  return other;
}

bool NpyFile::changed() const noexcept {
  struct stat state {};
  return file_ && ::fstat(file_.get(), &state) == 0 &&
         (static_cast<Bytes>(state.st_size) != file_bytes_ || modified_at(state) != modified_at_);
}

void NpyFile::forget_pages() const noexcept { ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); }

}  // namespace fairlead::data
