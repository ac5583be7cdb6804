// How ranks speak to each other, as far as there is a choice. All that is left at 0 is the protocol of DAGuE's paper
// (section 4.4) to the message.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fairlead/ids.hpp>

#include "net/mistakes.hpp"

namespace fairlead::net {

struct Protocol {
  /// Values up to this size travel with the message that tells of them.
  Bytes eager_bytes = 0;
  /// So many of such bytes may be on their way from each other rank to this one, or wait here.
  Bytes credit_bytes = Bytes{64} << 10;
  /// Ranks tell each other as they begin. Else it is the same on all.
  bool tells_credit = false;
  /// What so many ranks get goes down a tree; 0: never.
  std::size_t tree_from = 0;
  /// Values from this size on go down a chain instead.
  Bytes chain_from = Bytes{256} << 10;
  /// Values from this size on are offered to ranks that read this one's memory: these copy them by themselves; 0: none.
  Bytes offered_from = 0;
  std::vector<bool> read_by{};  ///< by rank
  /// Marks of what is offered count from here: a number that other processes do not have.
  std::uint64_t first_mark = 1;
  /// Payloads that are sent at once. Messages are not bounded: the rank that gets them waits for none.
  std::size_t most_payloads = 16;
  /// Values that are asked for at once, but for those of one task: MPI looks through all of them for each that comes.
  std::size_t most_visitors = 256;
  DeliberateMistake mistake{};
};

/// Bytes of values that are held at once, for a run.
struct Room {
  Bytes visitors = 0;   ///< of those that come, and as many of those that go
  Bytes offered = 0;    ///< of those that go, for what is offered
  Bytes page = 1;       ///< a value takes whole ones
  bool yields = false;  ///< to that of other runs, which leaves place for their tasks
  constexpr Bytes taken_by(Bytes bytes) const noexcept { return (bytes + page - 1) / page * page; }
};
/// What is offered may stay for long: there is always as much besides as the largest value that may be asked for.
constexpr Room room_of(Bytes visitors, Bytes largest, Bytes page) noexcept {
  return {visitors, visitors > largest ? (visitors - largest) / 2 : 0, page};
}

/// What a rank has sent, and of what it has got, what came straight into devices. A message that tells of several outputs counts once.
struct Traffic {
  std::size_t activates = 0, requests = 0, credits = 0, payloads = 0;
  std::size_t eager = 0;  ///< values that travelled along
  Bytes payload_bytes = 0, eager_bytes = 0;
  std::size_t offers = 0, takings = 0;  ///< messages
  std::size_t reads = 0;                ///< values that others have read here
  Bytes read_bytes = 0;
  std::size_t into_devices = 0;
  Bytes bytes_into_devices = 0;
  std::size_t messages() const noexcept { return activates + requests + credits + offers + takings; }
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

}  // namespace fairlead::net
