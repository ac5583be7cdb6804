// A random program and what each of its tasks must find, from a walk in program order. Every datum carries a
// version (accesses that changed it so far) and a value (which depends on everything that was read to make
// it).
#pragma once
#include <fairlead/access.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::tests {

struct PlannedUse {
  std::size_t datum = 0;
  AccessMode mode = AccessMode::read;
  /// Versions that the access may find: from `version` on, so many. More than one where a group of
  /// commutative or reduction accesses may run in any order.
  std::uint64_t version = 0, versions = 1;
  std::uint64_t value = 0;  ///< that it must find, where only one version is allowed by the modes
};

struct PlannedTask {
  std::vector<PlannedUse> written;  ///< as the program says them; a datum may appear twice
  std::vector<PlannedUse> uses;     ///< each datum once
};

constexpr bool in_any_order(AccessMode mode) noexcept {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}

/// What a commutative or reduction access adds.
std::uint64_t contribution(std::size_t task, std::size_t datum) noexcept;
/// What a writing access leaves behind. `inputs`: all that the task read in a fixed order, mixed.
std::uint64_t output(std::size_t task, std::size_t datum, std::uint64_t inputs) noexcept;
/// The next value of `inputs`.
std::uint64_t mixed(std::uint64_t inputs, std::uint64_t value) noexcept;

struct RandomProgram {
  explicit RandomProgram(std::uint64_t seed);

  std::size_t data = 0;
  std::size_t window = 0;  ///< unfinished tasks at most
  std::vector<PlannedTask> tasks;
  std::vector<std::uint64_t> final_versions, final_values;
};

}  // namespace fairlead::tests
