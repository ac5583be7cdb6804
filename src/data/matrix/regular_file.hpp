// A file with a matrix, open for reading. It is never written. The kernel is advised not to keep pages that were read,
// so that the page cache does not use up the memory limit of a container.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/file_descriptor.hpp"

#include <fairlead/ids.hpp>

namespace fairlead::data {

/// The state of a file: what a modification changes.
struct FileVersion {
  Bytes bytes = 0;
  std::chrono::nanoseconds modified_at{};

  bool operator==(const FileVersion&) const = default;
};

class RegularFile {
 public:
  /// Throws InputError naming the file: missing, unreadable, not a regular file.
  explicit RegularFile(const std::filesystem::path& path);

  /// The path.
  const std::string& name() const noexcept { return name_; }
  /// The size when it was opened.
  Bytes bytes() const noexcept { return version_.bytes; }
  /// When it was opened.
  FileVersion version() const noexcept { return version_; }

  /// The existing bytes of [offset, offset + bytes), for headers; not counted. Throws InputError.
  std::string read_some(Bytes offset, Bytes bytes) const;

  /// Fills `into` with the bytes from `offset` on. Any number of threads may read at once. Throws InputError if the
  /// file has become shorter, SystemError if the system cannot read it.
  void read(Bytes offset, std::span<std::byte> into) const;
  /// Bytes that read() has read so far.
  Bytes bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

  /// Advises the kernel to drop all pages of the file. Small reads leave their pages.
  void forget_pages() const noexcept;

  /// Whether the file was modified since it was opened, judged by size and modification time.
  bool changed() const noexcept;

 private:
  std::string name_;
  FileDescriptor file_;
  FileVersion version_;
  mutable std::atomic<Bytes> bytes_read_ = 0;
};

}  // namespace fairlead::data
