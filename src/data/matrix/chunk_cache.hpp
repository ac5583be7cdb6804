// Decoded chunks of a matrix in memory: the most recently used ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include <fairlead/ids.hpp>

namespace fairlead::data {

class ChunkCache {
 public:
  /// Fills `into` with the elements of a chunk.
  using Decode = std::function<void(std::uint64_t chunk, std::span<std::byte> into)>;

  /// Keeps chunks of `chunk_bytes` each, up to `bytes` in total, and at least one. Chunks in use are kept in addition.
  ChunkCache(Bytes bytes, Bytes chunk_bytes, Decode decode);

  /// The elements of a chunk, which stay valid while the pointer exists. Throws the errors of Decode. Any number of
  /// threads may call it; of several that need the same chunk, one decodes it.
  std::shared_ptr<const std::byte> get(std::uint64_t chunk);

 private:
  struct Chunk {
    std::mutex decoding;                  // guards the other
    std::unique_ptr<std::byte[]> memory;  // null: not decoded
  };
  using Recent = std::list<std::pair<std::uint64_t, std::shared_ptr<Chunk>>>;
  std::shared_ptr<Chunk> find_or_add(std::uint64_t chunk);

  std::size_t most_;
  Bytes chunk_bytes_;
  Decode decode_;
  std::mutex mutex_;  // guards the members below
  Recent recent_;     // most recently used first
  std::unordered_map<std::uint64_t, Recent::iterator> places_;
};

}  // namespace fairlead::data
