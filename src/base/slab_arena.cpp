// Block sizes grow with the total: a small table stays small, a large one needs few blocks.
#include "base/slab_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "base/pages.hpp"

namespace fairlead {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20, largest_slab = 8 * huge_page;
}

SlabArena::~SlabArena() {
  for (void* slab : slabs_) ::operator delete (slab, std::align_val_t{page_bytes});
}

void* SlabArena::take(std::size_t bytes, std::size_t alignment) {
  void* place = free_;
  std::size_t left = left_;
  if (std::align(alignment, bytes, place, left) == nullptr) {
    add(bytes);
    place = free_;
    left = left_;
  }
  free_ = static_cast<std::byte*>(place) + bytes;
  left_ = left - bytes;
  return place;
}

void SlabArena::add(std::size_t at_least) {
  const std::size_t bytes = whole_pages_for(std::max(at_least, std::min(total_ / 2, largest_slab)));
  slabs_.reserve(slabs_.size() + 1);
  // Not aligned to a huge page: an allocator would reserve one page more for that, which stays unused.
  void* address = ::operator new (bytes, std::align_val_t{page_bytes});
  slabs_.push_back(address);
  // Only a hint: a kernel without huge pages rejects it without consequences.
  if (bytes >= huge_page) madvise(address, bytes, MADV_HUGEPAGE);
  free_ = static_cast<std::byte*>(address);
  left_ = bytes;
  total_ += bytes;
}

}  // namespace fairlead
