// The messages of the protocol and their encoding. DAGuE (Bosilca et al. 2012), section 4.4: a message announces a
// finished task to a rank, the reply requests values, and the values travel as payloads, directly into the requested
// memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <fairlead/ids.hpp>

#include "net/names.hpp"

namespace fairlead::net {

/// A task has finished: its outputs that concern the receiver.
struct Activate {
  /// One output; outputs are in the order of their numbers.
  struct Output {
    std::uint8_t number = 0;
    std::uint32_t datum_type = 0;  ///< the front end's number for the type of the datum
    Bytes bytes = 0;               ///< 0: no value, only the task's completion
    /// bytes of memory: more than `bytes` if it is a part of its datum
    Bytes memory_bytes = 0;
    std::vector<RankId> forward_to{};  ///< ranks to which the receiver passes it on
    bool offered = false;              ///< an Offer follows: no request is needed
    std::vector<std::byte> value{};    ///< of an eager value
  };
  GraphRun of;
  std::uint64_t task = 0;
  std::uint64_t fingerprint = 0;  ///< of the graph: a different one means a different program
  std::vector<Output> outputs;

  ValueName name(std::size_t i) const noexcept { return {of, task, outputs[i].number}; }
};

/// Requests outputs of a task: one payload each, in this order, with consecutive tags from the first.
struct Request {
  GraphRun of;
  std::uint64_t task = 0;
  std::uint64_t first_tag = 0;
  std::uint64_t outputs = 0;  ///< bit mask
};

/// The number of bytes of eager values that the sender of this message has consumed: flow-control credit for
/// the receiver.
struct Credit {
  Bytes bytes = 0;
};

/// The value is at that address of the sender's memory, and stays there until the receiver acknowledges or requests
/// it.
struct Offer {
  ValueName name;
  std::uint64_t address = 0;
  std::uint64_t mark_at = 0, mark = 0;  ///< the value is valid while the mark has this value
};
/// The sender has read the offered value.
struct ReadAcknowledged {
  ValueName name;
};

/// The sender cannot continue, so no rank can.
struct Failed {
  RankId rank = no_rank;  ///< where the failure happened
  std::string text;
};

/// The sender takes part in nothing any more; it has finished these runs.
struct Closed {
  struct Runs {
    std::uint32_t graph = 0, count = 0;  ///< the first `count` runs of the graph
  };
  std::vector<Runs> finished;
};

/// The sender's state of a run, for rank 0. See class TerminationDetector.
struct Status {
  GraphRun run;
  std::uint64_t round = 0;               ///< of the Ask that it answers; 0: unasked
  std::uint64_t sequence = 0;            ///< sequence number of the sender's reports
  std::uint64_t sent = 0, received = 0;  ///< messages about values, and notes, in total
  bool idle = false;                     ///< idle and not finished
  bool finished = false;                 ///< finished
  std::string text{};                    ///< what the sender waits for
};
/// From rank 0: a request for the current state.
struct StatusRequest {
  std::uint64_t round = 0;
};

/// The first message: the bytes of eager values that the sender can take.
struct Allowance {
  Bytes takes_along = 0;
};

using Message = std::variant<Activate, Request, Credit, Offer, ReadAcknowledged, Failed, Closed, Status,
                             StatusRequest, Allowance>;

/// True for messages about values.
inline bool is_of_values(const Message& message) noexcept { return message.index() <= 4; }

std::vector<std::byte> bytes_of(const Message& message);

// Notes between front ends, which the protocol does not read. No message starts with this byte.
inline constexpr std::byte mark_of_note{0xff};
inline std::vector<std::byte> as_note(std::vector<std::byte> bytes) {
  bytes.insert(bytes.begin(), mark_of_note);
  return bytes;
}
inline bool is_note(std::span<const std::byte> bytes) noexcept {
  return !bytes.empty() && bytes.front() == mark_of_note;
}
/// Nothing if the bytes are no valid message.
std::optional<Message> message_of(std::span<const std::byte> bytes);

}  // namespace fairlead::net
