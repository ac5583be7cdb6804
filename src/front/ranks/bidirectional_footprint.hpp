// The largest values received and sent by messages. Two ranks that send each other a value at the same time each hold
// one buffer while they wait for the other, so both must fit into memory.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace fairlead::front {

/// For the program's thread.
class BidirectionalFootprint {
 public:
  void add(DatumId datum, Bytes bytes, bool sends) {
    Largest& largest = largest_[sends];
    auto at = std::ranges::find(largest, datum, &Of::datum);
    if (at == largest.end()) at = largest.end() - 1;
    if (at->bytes < bytes) *at = {datum, bytes};
    std::ranges::sort(largest, std::ranges::greater(), &Of::bytes);
  }
  /// The largest sum of a received and a sent value of two different data. A datum used in both directions takes one
  /// buffer.
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
  using Largest = std::array<Of, 2>;  // two: the largest may be the datum of the other direction
  std::array<Largest, 2> largest_{};  // by direction: received, sent
};

}  // namespace fairlead::front
