// See own_descriptors.hpp.
#include "net/own_descriptors.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead::net {

namespace {

bool close_from_to(unsigned first, unsigned last) {
  return first > last || ::syscall(SYS_close_range, first, last, 0) == 0;
}

/// For Linux before 5.9.
void close_each_but(const std::vector<int>& keep) {
  for (const auto& name : list_directory("/proc/thread-self/fd")) {
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= 0 && !std::ranges::binary_search(keep, number)) ::close(number);
  }
}

}  // namespace

bool take_own_descriptors(std::span<const int> keep) {
  std::vector<int> sorted(keep.begin(), keep.end());
  std::ranges::sort(sorted);
  if (::unshare(CLONE_FILES) != 0) return false;
  unsigned next = 0;
  bool closed = true;
  for (const int number : sorted) {
    if (number < 0) continue;
    const auto kept = static_cast<unsigned>(number);
    if (kept > next) closed = closed && close_from_to(next, kept - 1);
    next = kept + 1;
  }
  closed = closed && close_from_to(next, ~0U);
  if (!closed) close_each_but(sorted);
  return true;
}

}  // namespace fairlead::net
