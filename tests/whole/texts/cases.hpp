// Cases in separate processes, by the hundred: a case that crashes its process is reported, and the others
// continue.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/random.hpp"

namespace fairlead::tests {

struct Case {
  std::function<std::string(Random&)> make;      ///< a text
  std::function<void(const std::string&)> read;  ///< may throw only errors for users
};

/// Runs TEXTS_CASES cases (default `count`), with the seeds from TEXTS_SEED (default 1), and prints them. A case
/// that takes a minute counts as a hang.
void run_cases(const char* what, std::uint64_t count, const Case& one);

}  // namespace fairlead::tests
