// The alternative of a std::variant that stands for no value.
#pragma once

namespace fairlead {

/// Not trivially copyable, unlike std::monostate: libstdc++ 12 believes of a variant whose other alternatives are texts, vectors
/// and numbers that it always has a value, and destroys a copy for which there was no memory as if it had one.
struct NoValue {
  NoValue() = default;
  NoValue(const NoValue&) noexcept {}
  NoValue& operator=(const NoValue&) noexcept { return *this; }
};

}  // namespace fairlead
