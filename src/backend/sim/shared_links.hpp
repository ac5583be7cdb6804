// Copies that share links in virtual time. Each gets its max-min fair rate: no copy can be faster without slowing
// another that is not faster than it. Computed by progressive filling: the link with the lowest fair rate limits its
// copies; their rates are subtracted from the other links; repeat with the rest (Bertsekas, Gallager: Data Networks,
// 1992, section 6.5.2). A link shared by both directions may be slower in one; a byte costs more there.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace fairlead::backend {

/// Rates change only when a copy starts or ends, and only for copies connected with it by shared links, directly or
/// through others. Sums have a fixed order, so that equal runs end at the same nanosecond.
class SharedLinks {
 public:
  using LinkIndex = std::uint32_t;
  using CopyNumber = std::uint32_t;  ///< reused after the copy ends
  struct Crossing {
    constexpr Crossing(LinkIndex wire_, double cost_ = 1) noexcept : wire(wire_), cost(cost_) {}
    LinkIndex wire;
    double cost;  ///< capacity used per byte; above 1 in the slower direction
  };

  explicit SharedLinks(std::vector<double> bytes_per_second) : capacity_(std::move(bytes_per_second)) {
    wires_.resize(capacity_.size());
  }

  /// Starts a copy at `now`, which does not precede the time of any earlier call. It crosses all these links; one
  /// that is listed twice counts twice. Without links or bytes it ends at once.
  CopyNumber begin(Bytes bytes, std::span<const Crossing> crossed, Time now);
  /// The copy has completed or was cancelled.
  void end(CopyNumber number, Time now);

  struct End {
    Time at = Time::max();
    CopyNumber copy = 0;
  };
  /// The copy that ends first if no other starts before, and its time; of several the one that started first.
  End next() const noexcept;
  bool idle() const noexcept { return active_.empty(); }
  double bytes_per_second(CopyNumber copy) const noexcept { return copies_[copy].bytes_per_second; }

 private:
  struct Copy {
    std::vector<Crossing> crossed;
    double bytes_left = 0;  // remaining at `since`
    double bytes_per_second = 0;
    Time since{}, ends{};
    std::uint64_t order = 0;  // start order
    bool found = false;       // scratch of share()
    bool fixed = false;
  };
  struct State {
    std::vector<CopyNumber> copies;  // that cross it, in start order
    double left = 0;                 // scratch of share(): bytes per second
    std::size_t unfixed = 0;         // scratch of share(): crossings by copies without a rate yet
    double cost = 0;                 // scratch of share(): the sum of their costs
    bool found = false;
  };

  /// Recomputes the rates of all copies connected with these links.
  void share(std::span<const Crossing> crossed, Time now);
  void collect(std::span<const Crossing> crossed);
  void set_rate(Copy& copy, double bytes_per_second, Time now);

  std::vector<double> capacity_;
  std::vector<State> wires_;
  std::vector<Copy> copies_;
  std::vector<CopyNumber> free_, active_;
  std::uint64_t begun_ = 0;
  std::vector<LinkIndex> found_wires_;
  std::vector<CopyNumber> found_copies_;
};

}  // namespace fairlead::backend
