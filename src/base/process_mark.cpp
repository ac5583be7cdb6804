// Uses one page that the kernel zeroes in a forked child (MADV_WIPEONFORK, Linux 4.14).
#include "base/process_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "base/pages.hpp"

namespace fairlead {

ProcessMark::ProcessMark() : process_(getpid()) {
  void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, page_bytes);
    return;
  }
  page_ = static_cast<volatile int*>(page);
  *page_ = 1;
}

ProcessMark::~ProcessMark() {
  if (page_ != nullptr) munmap(const_cast<int*>(page_), page_bytes);
}

}  // namespace fairlead
