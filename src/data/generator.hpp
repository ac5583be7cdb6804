// Generates the initial value of a datum on demand, instead of storing it. Used until a task writes the
// datum.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>

namespace fairlead::data {

class Generator {
 public:
  virtual ~Generator() = default;
  /// Fills `to` with the bytes [first, first + bytes) of the packed datum. `first` is a multiple of 4,096; so
  /// is `bytes`, unless the range ends with the datum. Must be thread-safe and deterministic: it is called
  /// repeatedly, by any thread. May throw.
  virtual void make(std::byte* to, Bytes first, Bytes bytes) const = 0;
};

}  // namespace fairlead::data
