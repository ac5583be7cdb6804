// What makes the value that a datum has until something writes it: called as often as that is wanted, so that
// it is stored nowhere.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>

namespace fairlead::data {

class Generator {
 public:
  virtual ~Generator() = default;
  /// Bytes `first` to `first + bytes` of the packed datum; both are multiples of 4,096, or `bytes` ends with
  /// the datum. Any thread, several at the same time, any number of times, always with the same result. May
  /// throw.
  virtual void make(std::byte* to, Bytes first, Bytes bytes) const = 0;
};

}  // namespace fairlead::data
