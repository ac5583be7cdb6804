// Space for partial results of reductions: in the spill file for data with a home on disk, otherwise in the runtime's
// own memory.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "backend/disk/spill_file.hpp"
#include "engine/reduction_registry.hpp"
#include "front/runtime/stored_bytes.hpp"

namespace fairlead::front {

class PartialSpaces {
 public:
  /// `most_in_memory`: limit of the bytes in memory at the same time.
  PartialSpaces(backend::SpillFile& spill, StoredBytes& kept, Bytes most_in_memory) noexcept
      : spill_(spill), kept_(kept), most_in_memory_(most_in_memory) {}

  /// Allocates space for a partial result of a datum whose home is `home`; `store` is the disk's node. Empty if there
  /// is no space: then fewer tasks of the reduction run at the same time.
  std::optional<engine::PartialSpace> take(Bytes bytes, NodeId home, NodeId store) {
    if (home == store) {
      try {
        const memory::ByteRange slot = spill_.allocate(bytes);
        kept_.add(bytes);
        return engine::PartialSpace{
            home, nullptr, slot.offset,
            std::shared_ptr<void>(this, [this, slot](void*) { spill_.release(slot); })};
      } catch (const SystemError&) {
        return std::nullopt;  // the disk is full
      }
    }
    if (in_memory_ + bytes > most_in_memory_) return std::nullopt;
    in_memory_ += bytes;
    constexpr std::align_val_t alignment{64};
    std::shared_ptr<void> memory(::operator new(bytes, alignment), [this, bytes](void* at) {
      ::operator delete(at, alignment);
      in_memory_ -= bytes;
    });
    void* const address = memory.get();
    return engine::PartialSpace{home, address, 0, std::move(memory)};
  }

 private:
  backend::SpillFile& spill_;
  StoredBytes& kept_;
  const Bytes most_in_memory_;
  Bytes in_memory_ = 0;
};

}  // namespace fairlead::front
