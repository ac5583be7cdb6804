// See thread_priority.hpp.
#include "net/thread_priority.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace fairlead::net {

namespace {

/// The kernel's struct in its first version; the C library has none.
struct Attributes {
  std::uint32_t size = sizeof(Attributes), policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 100'000, deadline_ns = 0, period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

bool set(const Attributes& attributes) { return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0; }

}  // namespace

void raise_thread_priority() noexcept {
  Attributes now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER) return;
  const Attributes before_all_others{.policy = SCHED_FIFO, .priority = 1, .runtime_ns = 0};
  const Attributes in_its_group{.nice = -20}, by_short_turns{.nice = now.nice};
  static_cast<void>(set(before_all_others) || set(in_its_group) || set(by_short_turns));
}

}  // namespace fairlead::net
