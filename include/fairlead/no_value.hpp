// The alternative of a std::variant that stands for "no value".
#pragma once

namespace fairlead {

/// Unlike std::monostate, it is not trivially copyable. libstdc++ 12 assumes that a variant of strings, vectors,
/// numbers and trivially copyable types always has a value; if a copy runs out of memory, it destroys the copy as if it
/// had one.
struct NoValue {
  NoValue() = default;
  NoValue(const NoValue&) noexcept {}
  NoValue& operator=(const NoValue&) noexcept { return *this; }
};

}  // namespace fairlead
