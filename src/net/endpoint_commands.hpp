// The commands that an endpoint returns, for the network and for the front end whose values it exchanges. They are
// executed after each call of the endpoint, in the order of these lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fairlead/ids.hpp>

#include "base/device_memory.hpp"
#include "net/names.hpp"
#include "net/value_layout.hpp"

namespace fairlead::net {

/// A value that this rank sends: the endpoint's number for it.
enum class OutgoingId : std::uint64_t {};
inline constexpr OutgoingId no_outgoing{~std::uint64_t{0}};
/// A value that this rank receives.
enum class IncomingId : std::uint64_t {};
/// A payload in flight.
enum class PayloadId : std::uint64_t {};

/// The memory of a value.
struct ValueMemory {
  void* address = nullptr;
  DeviceMemory* memory =
      /// device memory that others write through this object; null: RAM, or no other process writes there
      nullptr;
  ValueLayout layout{};  ///< of the bytes at the address; contiguous in a device
};

struct EndpointCommands {
  // ---- for the network

  /// Receive the payload with this tag from that rank. Executed before the messages, which request it.
  struct PostedReceive {
    PayloadId id{};
    RankId from = no_rank;
    std::uint64_t tag = 0;
    void* place = nullptr;
    Bytes bytes = 0;                 ///< of its layout
    ValueLayout layout{};            ///< within the place
    DeviceMemory* memory = nullptr;  ///< device memory of the place, contiguous then; null: RAM
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
    ValueLayout layout{};
  };
  /// Read a value in that rank's memory. It is valid if the mark is still in place after the last byte has been read.
  struct Copy {
    PayloadId id{};
    RankId from = no_rank;
    std::uint64_t address = 0;
    void* place = nullptr;
    Bytes bytes = 0;
    std::uint64_t mark_at = 0, mark = 0;
  };
  std::vector<PostedReceive> expected;
  std::vector<Message> messages;
  std::vector<Payload> payloads;
  std::vector<Copy> copies;
  /// Payloads whose end must not be reported any more.
  std::vector<PayloadId> dropped;

  // ---- for the front end

  /// Provide a datum for an incoming value; placed() replies.
  struct Place {
    IncomingId id{};
    ValueName name;
    std::uint32_t like = 0;
    Bytes bytes = 0;
    RankId from = no_rank;
  };
  /// Keep the value readable and reply by readable(); or, with `over`, release it.
  struct Read {
    OutgoingId id{};
    ValueName name;
    std::uint64_t value = 0;  ///< the front end's number
    bool release = false;
  };
  /// Write the bytes to the memory that placed() named; then the value has arrived.
  struct Fill {
    void* place = nullptr;
    std::vector<std::byte> bytes;
    ValueLayout layout{};
    DeviceMemory* memory = nullptr;  ///< as in Expected
  };
  /// A value has arrived, or a task without one has finished.
  struct Arrived {
    ValueName name;
    std::uint64_t value = 0;             ///< as in placed(); meaningless without a value
    OutgoingId passed_on = no_outgoing;  ///< this rank passes the value on: keep it until `left`
    bool control = false;
  };
  /// All ranks that get the value from this rank have it.
  struct Sent {
    OutgoingId id{};
    ValueName name;
    std::uint64_t value = 0;
  };
  std::vector<Place> places;
  std::vector<Fill> fills;
  std::vector<Read> reads;
  std::vector<Arrived> landed;
  std::vector<Sent> left;
  std::string failure;  ///< why the run cannot continue; empty: it can

  /// Keeps the allocated memory for later commands.
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
