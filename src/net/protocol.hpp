// Parameters of the protocol between ranks. With all of them 0, it is exactly the protocol of DAGuE's paper (section
// 4.4).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fairlead/ids.hpp>

#include "net/protocol_mistakes.hpp"

namespace fairlead::net {

struct Protocol {
  /// Values up to this size travel inside the activate (eager).
  Bytes eager_bytes = 0;
  /// Bytes of eager values from each other rank that may be in flight to this rank or wait here.
  Bytes credit_bytes = Bytes{64} << 10;
  /// Ranks announce credit_bytes when they begin. If false, it is equal on all ranks.
  bool exchanges_credit = false;
  /// Values for at least this many ranks use a tree; 0: never.
  std::size_t tree_from = 0;
  /// Values of at least this size use a chain instead.
  Bytes chain_from = Bytes{256} << 10;
  /// Values of at least this size are offered to ranks that read this one's memory directly; 0: none.
  Bytes offered_from = 0;
  std::vector<bool> read_by{};  ///< by rank
  /// First mark of offered values: a number that other processes do not have.
  std::uint64_t first_mark = 1;
  /// Payloads in flight at once. Messages are unlimited: their receiver never waits.
  std::size_t most_payloads = 16;
  /// Values requested at once, except those of one task: MPI searches all of them for each that arrives.
  std::size_t max_in_transit = 256;
  DeliberateProtocolMistake mistake{};
};

/// Memory for values in transit of a run, in bytes.
struct TransitLimits {
  Bytes in_transit = 0;  ///< incoming values, and as much for outgoing ones
  Bytes offered = 0;     ///< the part of the outgoing bytes for offers
  Bytes page = 1;        ///< values take whole pages
  bool yields = false;   ///< counts only if no other kind of run is open
  constexpr Bytes taken_by(Bytes bytes) const noexcept { return (bytes + page - 1) / page * page; }
};
/// Offered values may stay long. So the largest value that can be requested always fits in addition to them.
constexpr TransitLimits room_of(Bytes visitors, Bytes largest, Bytes page) noexcept {
  return {visitors, visitors > largest ? (visitors - largest) / 2 : 0, page};
}

/// Counts of sent messages and values, and of values received directly into devices. A message with several outputs
/// counts once.
struct NetworkTraffic {
  std::size_t activates = 0, requests = 0, credits = 0, payloads = 0;
  std::size_t eager = 0;  ///< eager values
  Bytes payload_bytes = 0, eager_bytes = 0;
  std::size_t offers = 0, takings = 0;  ///< messages
  std::size_t reads = 0;                ///< values that others have read here
  Bytes read_bytes = 0;
  std::size_t into_devices = 0;
  Bytes bytes_into_devices = 0;
  std::size_t messages() const noexcept { return activates + requests + credits + offers + takings; }
  friend bool operator==(const NetworkTraffic&, const NetworkTraffic&) = default;
};

}  // namespace fairlead::net
