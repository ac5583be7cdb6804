// Cases in processes of their own, by the hundred: one that breaks its process is named, and the others go
// on.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/random.hpp"

namespace fairlead::tests {

struct Case {
  std::function<std::string(Random&)> make;      ///< a text
  std::function<void(const std::string&)> read;  ///< may throw what a person can act on, and nothing else
};

/// Runs as many cases as TEXTS_CASES says (else `count`), with the seeds from TEXTS_SEED (else 1), and prints
/// which. A case that takes a minute counts as one that never ends.
void run_cases(const char* what, std::uint64_t count, const Case& one);

}  // namespace fairlead::tests
