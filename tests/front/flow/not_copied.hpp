// An argument of a task that makes its submission throw.
#pragma once
#include <stdexcept>

namespace fairlead::tests {

/// From some time on it cannot be copied into a task.
struct NotCopied {
  explicit NotCopied(const bool& from_now) : refuses(&from_now) {}
  NotCopied(const NotCopied& other) : refuses(other.refuses) {
    if (*refuses) throw std::runtime_error("it cannot be copied");
  }
  NotCopied(NotCopied&&) = default;
  NotCopied& operator=(const NotCopied&) = default;
  NotCopied& operator=(NotCopied&&) = default;
  ~NotCopied() = default;

  const bool* refuses;
};

}  // namespace fairlead::tests
