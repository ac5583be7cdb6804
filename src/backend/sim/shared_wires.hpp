// Copies that cross the same wires at the same time, in virtual time: each gets its max-min fair share, that
// is, no copy can be made faster without making one slower that is no faster than it is. Found by progressive
// filling: the wire that leaves its copies least is the limit of those; what they take is taken off the other
// wires; again with the rest (Bertsekas, Gallager: Data Networks, 1992, section 6.5.2). A wire that both
// directions share may be slower in one of them: a byte costs more of it then.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace fairlead::backend {

/// Rates change only when a copy begins or ends, and then only those of copies that share a wire with it, or
/// with one that does, and so on. Sums are in one order, so that equal runs end at the same nanosecond.
class SharedWires {
 public:
  using Wire = std::uint32_t;
  using CopyNumber = std::uint32_t;  ///< used again once the copy is over
  struct Crossing {
    constexpr Crossing(Wire wire_, double cost_ = 1) noexcept : wire(wire_), cost(cost_) {}
    Wire wire;
    double cost;  ///< a byte takes so much of the wire: more than 1 in the direction in which it is slower
  };

  explicit SharedWires(std::vector<double> bytes_per_second) : capacity_(std::move(bytes_per_second)) {
    wires_.resize(capacity_.size());
  }

  /// A copy begins at `now`, which is not before anything that was said or asked earlier. It crosses all of
  /// these wires, one that is there twice twice; with none, or no bytes, it ends at once.
  CopyNumber begin(Bytes bytes, std::span<const Crossing> crossed, Time now);
  /// It is over, or given up.
  void end(CopyNumber number, Time now);

  struct End {
    Time at = Time::max();
    CopyNumber copy = 0;
  };
  /// Which ends first if nothing begins before, and when; of several the one that began first.
  End next() const noexcept;
  bool idle() const noexcept { return active_.empty(); }
  double bytes_per_second(CopyNumber copy) const noexcept { return copies_[copy].bytes_per_second; }

 private:
  struct Copy {
    std::vector<Crossing> crossed;
    double bytes_left = 0;  // at `since`
    double bytes_per_second = 0;
    Time since{}, ends{};
    std::uint64_t order = 0;  // of beginning
    bool found = false;       // scratch of share()
    bool fixed = false;
  };
  struct State {
    std::vector<CopyNumber> copies;  // that cross it, in order of beginning
    double left = 0;                 // scratch of share(): bytes per second
    std::size_t unfixed = 0;         // likewise: crossings by copies that have no rate yet
    double cost = 0;                 // likewise: theirs
    bool found = false;
  };

  /// Computes the rates of all copies that are joined to these wires.
  void share(std::span<const Crossing> crossed, Time now);
  void collect(std::span<const Crossing> crossed);
  void set_rate(Copy& copy, double bytes_per_second, Time now);

  std::vector<double> capacity_;
  std::vector<State> wires_;
  std::vector<Copy> copies_;
  std::vector<CopyNumber> free_, active_;
  std::uint64_t begun_ = 0;
  std::vector<Wire> found_wires_;
  std::vector<CopyNumber> found_copies_;
};

}  // namespace fairlead::backend
