// See chunk_cache.hpp.
#include "data/matrix/chunk_cache.hpp"

#include <algorithm>

namespace fairlead::data {

ChunkCache::ChunkCache(Bytes bytes, Bytes chunk_bytes, Decode decode)
    : most_(std::max<std::size_t>(1, bytes / chunk_bytes)),
      chunk_bytes_(chunk_bytes),
      decode_(std::move(decode)) {}

std::shared_ptr<ChunkCache::Chunk> ChunkCache::find_or_add(std::uint64_t chunk) {
  const std::lock_guard guard(mutex_);
  if (const auto found = places_.find(chunk); found != places_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return recent_.front().second;
  }
  recent_.emplace_front(chunk, std::make_shared<Chunk>());
  places_.emplace(chunk, recent_.begin());
  if (recent_.size() > most_) {
    places_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return recent_.front().second;
}

std::shared_ptr<const std::byte> ChunkCache::get(std::uint64_t chunk) {
  const std::shared_ptr<Chunk> found = find_or_add(chunk);
  const std::lock_guard guard(found->decoding);
  if (!found->memory) {
    auto memory = std::make_unique_for_overwrite<std::byte[]>(chunk_bytes_);
    decode_(chunk, {memory.get(), chunk_bytes_});
    found->memory = std::move(memory);
  }
  return {found, found->memory.get()};
}

}  // namespace fairlead::data
