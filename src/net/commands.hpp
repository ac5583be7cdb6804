// What an endpoint wants to be done: by the network, and by the front end whose values it sends and gets. It is done
// after the endpoint was told something, in the order of these lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fairlead/ids.hpp>

#include "base/device_memory.hpp"
#include "net/layout.hpp"
#include "net/names.hpp"

namespace fairlead::net {

/// A value that others get from here: the endpoint's name for it.
enum class OutgoingId : std::uint64_t {};
inline constexpr OutgoingId no_outgoing{~std::uint64_t{0}};
/// A value that comes here.
enum class IncomingId : std::uint64_t {};
/// A payload under way.
enum class PayloadId : std::uint64_t {};

/// Where a value is or is to be.
struct Spot {
  void* address = nullptr;
  DeviceMemory* memory =
      nullptr;      ///< of a device, by which others than its own write there; null: RAM, or nobody else does
  Layout layout{};  ///< at the address; in a device it is whole
};

struct Commands {
  // ---- the network's

  /// The bytes with this tag from that rank go there. Before the messages: they ask for them.
  struct Expected {
    PayloadId id{};
    RankId from = no_rank;
    std::uint64_t tag = 0;
    void* place = nullptr;
    Bytes bytes = 0;                 ///< of its layout
    Layout layout{};                 ///< within the place
    DeviceMemory* memory = nullptr;  ///< in which the place is, whole then; null: RAM
  };
  struct Message {
    RankId to = no_rank;
    std::vector<std::byte> bytes;
  };
  struct Payload {
    PayloadId id{};
    RankId to = no_rank;
    std::uint64_t tag = 0;
    const void* from = nullptr;
    Bytes bytes = 0;
    Layout layout{};
  };
  /// To be read in that rank's memory: a value, and a mark, which has to be there still when all has been read.
  struct Copy {
    PayloadId id{};
    RankId from = no_rank;
    std::uint64_t address = 0;
    void* place = nullptr;
    Bytes bytes = 0;
    std::uint64_t mark_at = 0, mark = 0;
  };
  std::vector<Expected> expected;
  std::vector<Message> messages;
  std::vector<Payload> payloads;
  std::vector<Copy> copies;
  /// Their end is not to be told any more.
  std::vector<PayloadId> dropped;

  // ---- the front end's

  /// A datum is wanted for a value that comes; placed() tells which.
  struct Place {
    IncomingId id{};
    ValueName name;
    std::uint32_t like = 0;
    Bytes bytes = 0;
    RankId from = no_rank;
  };
  /// The value is to stay where it can be read, and readable() to tell where that is; or need not any more.
  struct Read {
    OutgoingId id{};
    ValueName name;
    std::uint64_t value = 0;  ///< the front end's number
    bool over = false;
  };
  /// The bytes belong where placed() has said; the value is there then.
  struct Fill {
    void* place = nullptr;
    std::vector<std::byte> bytes;
    Layout layout{};
    DeviceMemory* memory = nullptr;  ///< as in Expected
  };
  /// A value is there, or the end of a task is told which has none.
  struct Landed {
    ValueName name;
    std::uint64_t value = 0;             ///< as placed() said; of no meaning without one
    OutgoingId passed_on = no_outgoing;  ///< others get it from here: it stays until `left` says so
    bool control = false;
  };
  /// All to whom we owed the value have it.
  struct Left {
    OutgoingId id{};
    ValueName name;
    std::uint64_t value = 0;
  };
  std::vector<Place> places;
  std::vector<Fill> fills;
  std::vector<Read> reads;
  std::vector<Landed> landed;
  std::vector<Left> left;
  std::string failure;  ///< why nothing can go on; empty: it can

  /// What was allocated stays, for the next ones.
  void clear() noexcept {
    expected.clear(), messages.clear(), payloads.clear(), copies.clear(), dropped.clear();
    places.clear(), fills.clear(), reads.clear(), landed.clear(), left.clear();
    failure.clear();
  }
  bool empty() const noexcept {
    return expected.empty() && messages.empty() && payloads.empty() && copies.empty() && dropped.empty() &&
           places.empty() && fills.empty() && reads.empty() && landed.empty() && left.empty() &&
           failure.empty();
  }
};

}  // namespace fairlead::net
