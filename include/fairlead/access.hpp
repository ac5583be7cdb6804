// Access modes: how a task uses a datum. Data dependencies between tasks follow from these modes alone.
#pragma once
#include <cstdint>
#include <string_view>

namespace fairlead {

/// How a task accesses a datum.
enum class AccessMode : std::uint8_t {
  read,         // needs the current value; any number of tasks may read at the same time
  write,        // replaces the value without reading it, so no value is copied in
  read_write,   // reads the current value and changes it
  commutative,  // changes the value; neighbouring commutative tasks run one at a time, in any order
  reduction,    // accumulates into the value; neighbouring reductions may run at the same time, on partial
                // results that are folded afterwards
};

constexpr bool reads(AccessMode mode) noexcept { return mode != AccessMode::write; }
constexpr bool writes(AccessMode mode) noexcept { return mode != AccessMode::read; }
/// True for modes whose tasks may write in any order.
constexpr bool writes_in_any_order(AccessMode mode) noexcept {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}
/// True if consecutive accesses of this mode need no order among themselves.
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
