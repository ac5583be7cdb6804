// Reads each chunk once, on first use.
#include "data/matrix/kept_bytes.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace fairlead::data {

KeptBytes::KeptBytes(Bytes bytes, Read read) : read_(std::move(read)) {
  try {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    chunks_ = std::make_unique<Chunk[]>((bytes + chunk - 1) / chunk);
    bytes_ = bytes;
  } catch (const std::bad_alloc&) {  // caches nothing: the file is read again each time
    memory_.reset();
  }
}

const std::byte* KeptBytes::at(Bytes offset, Bytes count) {
  for (Bytes i = offset / chunk; i * chunk < offset + count; ++i) {
    Chunk& one = chunks_[i];
    if (one.is_there.load(std::memory_order_acquire)) continue;
    const std::lock_guard guard(one.reading);
    if (one.is_there.load(std::memory_order_relaxed)) continue;
    read_(i * chunk, {memory_.get() + i * chunk, std::min(chunk, bytes_ - i * chunk)});
    one.is_there.store(true, std::memory_order_release);
  }
  return memory_.get() + offset;
}

}  // namespace fairlead::data
