// The largest values that messages bring and take away. Two ranks that send each other something at the same time hold the place
// of the one while they look for that of the other, so both have to fit.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace fairlead::front {

/// The program's thread's.
class BothWays {
 public:
  void add(DatumId datum, Bytes bytes, bool sends) {
    Largest& largest = largest_[sends];
    auto at = std::ranges::find(largest, datum, &Of::datum);
    if (at == largest.end()) at = largest.end() - 1;
    if (at->bytes < bytes) *at = {datum, bytes};
    std::ranges::sort(largest, std::ranges::greater(), &Of::bytes);
  }
  /// Of two different data, the one that comes and the one that goes. One that does both is there once.
  Bytes bytes() const noexcept {
    Bytes most = 0;
    for (const Of& comes : largest_[false])
      for (const Of& goes : largest_[true])
        if (comes.bytes != 0 && goes.bytes != 0 && comes.datum != goes.datum)
          most = std::max(most, comes.bytes + goes.bytes);
    return most;
  }

 private:
  struct Of {
    DatumId datum = no_id<DatumId>;
    Bytes bytes = 0;
  };
  using Largest = std::array<Of, 2>;  // the second, too: the first may be the same as the other way
  std::array<Largest, 2> largest_{};  // by whether it goes
};

}  // namespace fairlead::front
