// Generates the initial value of a datum on demand, until a task writes the datum; so the value is stored nowhere.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>

namespace fairlead::data {

class Generator {
 public:
  virtual ~Generator() = default;
  /// Fills `to` with the bytes [first, first + bytes) of the packed datum. `first` is a multiple of 4,096; so is
  /// `bytes`, unless the range ends with the datum. Called by any threads concurrently, any number of times; the
  /// result is always the same. May throw.
  virtual void make(std::byte* to, Bytes first, Bytes bytes) const = 0;
};

}  // namespace fairlead::data
