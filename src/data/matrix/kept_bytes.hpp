// Caches the first bytes of a file's data in memory, for matrices that are read several times.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include <fairlead/ids.hpp>

namespace fairlead::data {

class KeptBytes {
 public:
  /// Fills `into` with the data from that offset on.
  using Read = std::function<void(Bytes offset, std::span<std::byte> into)>;

  /// Caches the first `bytes` bytes; none if there is no memory for them.
  KeptBytes(Bytes bytes, Read read);

  Bytes size() const noexcept { return bytes_; }
  /// The bytes [offset, offset + count), all within the first size(). Throws the errors of Read. Any number of
  /// threads may call it at once.
  const std::byte* at(Bytes offset, Bytes count);

 private:
  static constexpr Bytes chunk = Bytes{1} << 20;
  struct Chunk {
    std::mutex reading;
    std::atomic<bool> is_there = false;
  };

  Read read_;
  Bytes bytes_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<Chunk[]> chunks_;
};

}  // namespace fairlead::data
