// How a task uses a datum. The order of tasks follows from these modes alone.
#pragma once
#include <cstdint>
#include <string_view>

namespace fairlead {

/// What a task does with one of its data.
enum class AccessMode : std::uint8_t {
  read,         // needs the current value; any number of readers at once
  write,        // replaces the value without looking at it, so nothing is copied in
  read_write,   // needs the current value and changes it
  commutative,  // changes it; such tasks run one at a time, in any order
  reduction,    // adds to it; such tasks may run at the same time, on partial results that are folded
                // afterwards
};

constexpr bool reads(AccessMode mode) noexcept { return mode != AccessMode::write; }
constexpr bool writes(AccessMode mode) noexcept { return mode != AccessMode::read; }
/// Changes that may come in any order.
constexpr bool writes_in_any_order(AccessMode mode) noexcept {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}
/// Accesses of this mode that follow each other may be unordered among themselves.
constexpr bool may_share(AccessMode mode) noexcept {
  return mode == AccessMode::read || writes_in_any_order(mode);
}

constexpr std::string_view name_of(AccessMode mode) noexcept {
  switch (mode) {
    case AccessMode::read:
      return "read";
    case AccessMode::write:
      return "write";
    case AccessMode::read_write:
      return "read-write";
    case AccessMode::commutative:
      return "commutative";
    case AccessMode::reduction:
      return "reduction";
  }
  return "?";
}

}  // namespace fairlead
