// Checksums of what was written to a file, so that bytes which come back otherwise are noticed: disks,
// controllers and cables do flip bits, and a factor with one wrong bit looks like a right one.
//
// XXH3 of xxHash (Debian's libxxhash-dev, its header alone): 64 bits, of which a flipped bit changes half,
// at about the speed of memory. CRC32C is as fast, but has half the bits.
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

/// One for each chunk of at most `chunk_bytes`, counted from where a write begins: so what is written as a
/// whole can be read in parts that are multiples of it, and the other way round. Of a chunk of which only a
/// part is read nothing is said. 72 bytes for each chunk. Any thread.
class Checksums {
 public:
  static constexpr Bytes largest_chunk = Bytes{1} << 20;

  explicit Checksums(Bytes chunk_bytes = largest_chunk) : chunk_bytes_(chunk_bytes) {}

  /// A part of the file, and the sum of what it should hold.
  struct Sum {
    Bytes offset = 0, bytes = 0;
    std::uint64_t value = 0;
  };

  /// To be called before `content` is written, and added when it has been.
  std::vector<Sum> of(Bytes offset, std::span<const std::byte> content) const;
  void add(std::span<const Sum> sums);
  /// What is there is about to change.
  void forget(Bytes offset, Bytes bytes);

  /// What is known of a part of the file before it is read.
  class Expected {
   public:
    /// Where `content`, which was read from there, is not what was written: the offset of the chunk. Not
    /// where somebody has begun to write meanwhile.
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
    std::uint64_t value, serial;  // serial: no two entries have the same
  };
  using Entries = std::map<Bytes, Entry>;  // by offset; none reaches into the next
  void forget_locked(Bytes offset, Bytes bytes);
  bool has(Bytes offset, std::uint64_t serial) const;

  const Bytes chunk_bytes_;
  mutable std::mutex mutex_;  // guards what follows; not held while sums are computed
  Entries entries_;
  std::uint64_t serial_ = 0;
};

}  // namespace fairlead::backend
