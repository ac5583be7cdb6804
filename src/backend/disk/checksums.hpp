// Checksums of data written to a file, to detect corruption when they are read. Disks, controllers and cables do flip
// bits, and a factor with one wrong bit looks correct.
// XXH3 of xxHash (the header of Debian's libxxhash-dev): 64 bits, of which a flipped bit changes half, at about the
// speed of memory. CRC32C is as fast, but has half the bits.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace fairlead::backend {

/// One sum per chunk of at most `chunk_bytes`, counted from the start of a write. So data written at once can be read
/// in parts that are multiples of it, and vice versa. Partially read chunks are not checked. 72 bytes of memory per
/// chunk. Any thread.
class Checksums {
 public:
  static constexpr Bytes largest_chunk = Bytes{1} << 20;

  explicit Checksums(Bytes chunk_bytes = largest_chunk) : chunk_bytes_(chunk_bytes) {}

  /// A range of the file and its checksum.
  struct Sum {
    Bytes offset = 0, bytes = 0;
    std::uint64_t value = 0;
  };

  /// Compute the sums before `content` is written, and add them afterwards.
  std::vector<Sum> of(Bytes offset, std::span<const std::byte> content) const;
  void add(std::span<const Sum> sums);
  /// The sums of chunks within a range of the file, by offset.
  std::vector<Sum> within(Bytes offset, Bytes bytes) const;
  /// Whether the content of a chunk has this checksum.
  static bool matches(std::span<const std::byte> content, std::uint64_t value);
  /// The range is about to change.
  void forget(Bytes offset, Bytes bytes);

  /// The sums of a range of the file, captured before it is read.
  class Expected {
   public:
    /// The file offset of the first chunk of `content`, read from that range, with a wrong checksum. Ignores chunks
    /// that another thread has overwritten since.
    std::optional<Bytes> first_wrong(std::span<const std::byte> content) const;

   private:
    friend class Checksums;
    struct Known {
      Sum sum;
      std::uint64_t serial;
    };
    const Checksums* from_ = nullptr;
    Bytes offset_ = 0;
    std::vector<Known> known_;
  };
  Expected expected(Bytes offset, Bytes bytes) const;

 private:
  struct Entry {
    Bytes bytes;
    std::uint64_t value, serial;  // serial: unique among all entries
  };
  using Entries = std::map<Bytes, Entry>;  // by offset; entries do not overlap
  void forget_locked(Bytes offset, Bytes bytes);
  bool has(Bytes offset, std::uint64_t serial) const;

  const Bytes chunk_bytes_;
  mutable std::mutex mutex_;  // guards the fields below; not held while sums are computed
  Entries entries_;
  std::uint64_t serial_ = 0;
};

}  // namespace fairlead::backend
