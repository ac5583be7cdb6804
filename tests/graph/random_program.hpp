// A random program and the values that its tasks must find, from a walk in program order. Every datum has a version (the
// number of accesses that have changed it) and a value (which depends on all values that were read to compute it).
#pragma once
#include <fairlead/access.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::tests {

struct PlannedUse {
  std::size_t datum = 0;
  AccessMode mode = AccessMode::read;
  /// The number of versions that the access may find, from `version` on. More than one if a group of commutative or
  /// reduction accesses may run in any order.
  std::uint64_t version = 0, versions = 1;
  std::uint64_t value = 0;  ///< that it must find, if the modes allow only one version
};

struct PlannedTask {
  std::vector<PlannedUse> written;  ///< as in the program; a datum may appear twice
  std::vector<PlannedUse> uses;     ///< each datum once
};

constexpr bool in_any_order(AccessMode mode) noexcept {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}

/// The contribution of a commutative or reduction access.
std::uint64_t contribution(std::size_t task, std::size_t datum) noexcept;
/// The result of a writing access. `inputs`: a hash of all values that the task has read, in a fixed order.
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
