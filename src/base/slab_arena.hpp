// An arena for tables of descriptors that only grow. It allocates few large blocks, in huge pages if available: every
// task accesses several tables, and each lookup may miss the TLB.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace fairlead {

class SlabArena {
 public:
  SlabArena() = default;
  SlabArena(const SlabArena&) = delete;
  SlabArena& operator=(const SlabArena&) = delete;
  ~SlabArena();

  /// Uninitialized memory that never moves and lives as long as this object. `alignment` is a power of two, at most a
  /// page. Throws std::bad_alloc.
  void* take(std::size_t bytes, std::size_t alignment);

 private:
  void add(std::size_t at_least);

  std::vector<void*> slabs_;
  std::byte* free_ = nullptr;  // in the last slab
  std::size_t left_ = 0;
  std::size_t total_ = 0;
};

}  // namespace fairlead
