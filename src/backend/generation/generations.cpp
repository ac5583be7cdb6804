// See generations.hpp.
#include "backend/generation/generations.hpp"

#include <algorithm>
#include <cerrno>

namespace fairlead::backend {

void Generations::submit(const Generation& generation) {
  const std::lock_guard guard(mutex_);
  queue_.push_back(generation);
  waiting_.store(queue_.size());
}

std::optional<Generation> Generations::take() {
  const std::lock_guard guard(mutex_);
  if (queue_.empty()) return std::nullopt;
  const Generation next = queue_.front();
  queue_.pop_front();
  waiting_.store(queue_.size());
  return next;
}

int Generations::make(const Generation& it) noexcept {
  try {
    // Wires carry whole pages; the datum may end before.
    it.copy->generator->make(it.to, it.first, std::min(it.bytes, it.copy->bytes - it.first));
    return 0;
  } catch (...) {
    const std::lock_guard guard(mutex_);  // several pieces of one copy may be made at the same time
    if (it.copy->failure == nullptr) it.copy->failure = std::current_exception();
    return EIO;
  }
}

}  // namespace fairlead::backend
