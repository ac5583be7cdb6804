// Blocks that grow with what is there already: a small table stays small, a large one takes few of them.
#include "base/slabs.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>

namespace fairlead {

namespace {
constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20, largest_slab = 8 * huge_page;
}

Slabs::~Slabs() {
  for (const Slab& slab : slabs_) ::operator delete (slab.address, std::align_val_t{slab.alignment});
}

void* Slabs::take(std::size_t bytes, std::size_t alignment) {
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

void Slabs::add(std::size_t at_least) {
  std::size_t bytes = std::max(at_least, std::min(total_ / 2, largest_slab));
  const std::size_t alignment = bytes >= huge_page ? huge_page : page;
  if (alignment == huge_page) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
  slabs_.reserve(slabs_.size() + 1);
  void* address = ::operator new (bytes, std::align_val_t{alignment});
  slabs_.push_back({address, alignment});
  // A wish: a kernel without huge pages refuses, and nothing else changes.
  if (alignment == huge_page) madvise(address, bytes, MADV_HUGEPAGE);
  free_ = static_cast<std::byte*>(address);
  left_ = bytes;
  total_ += bytes;
}

}  // namespace fairlead
