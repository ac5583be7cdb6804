// The beginning of a file's data, kept in memory once it was read: for matrices that are read several times.
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
  /// Reads so many bytes from that offset of the data on.
  using Read = std::function<void(Bytes offset, std::span<std::byte> into)>;

  /// Of the first `bytes`; none if there is no memory for them.
  KeptBytes(Bytes bytes, Read read);

  Bytes size() const noexcept { return bytes_; }
  /// The bytes [offset, offset + count), which are among the first size(). Throws what reading them throws. Any number of
  /// threads may ask at once.
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
