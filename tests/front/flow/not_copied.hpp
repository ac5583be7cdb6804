// A task argument that makes the submission throw.
#pragma once
#include <stdexcept>

namespace fairlead::tests {

/// Once enabled, a copy into a task throws.
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
