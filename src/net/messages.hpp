// The messages of the protocol, and their bytes. DAGuE (Bosilca et al. 2012), section 4.4: one message that tells a
// rank of the end of a task, an answer that asks for the values, and the values themselves, which are no messages but
// payloads: they go straight to where they were asked for.
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

/// A task is over: these of its outputs concern who gets this.
struct Activate {
  /// One output, in the order of their numbers.
  struct Output {
    std::uint8_t number = 0;
    std::uint32_t like = 0;          ///< what its datum looks like: the front end's number for that
    Bytes bytes = 0;                 ///< 0: there is no value, only the end of the task
    Bytes takes = 0;                 ///< of memory: more if it is a part of what its datum has
    std::vector<RankId> below{};     ///< who gets it from who gets this
    bool offered = false;            ///< an Offer follows: nobody has to ask for it
    std::vector<std::byte> value{};  ///< if it travels along
  };
  GraphRun of;
  std::uint64_t task = 0;
  std::uint64_t fingerprint = 0;  ///< of the graph: another one means another program
  std::vector<Output> outputs;

  ValueName name(std::size_t i) const noexcept { return {of, task, outputs[i].number}; }
};

/// These outputs of the task may come: a payload each, in this order, with the tags that follow from the first.
struct Request {
  GraphRun of;
  std::uint64_t task = 0;
  std::uint64_t first_tag = 0;
  std::uint64_t outputs = 0;  ///< mask
};

/// So many bytes of what had travelled along are taken: as many more may.
struct Credit {
  Bytes bytes = 0;
};

/// The value is at that address of the sender's memory, and stays until who gets this has taken it or asks for it.
struct Offer {
  ValueName name;
  std::uint64_t address = 0;
  std::uint64_t mark_at = 0, mark = 0;  ///< as long as the mark is there, the value is
};
/// The sender has the value that it was offered.
struct Taken {
  ValueName name;
};

/// The sender cannot go on, and nobody can.
struct Failed {
  RankId rank = no_rank;  ///< where it happened
  std::string text;
};

/// The sender takes part in nothing any more. These are the runs that are over for it.
struct Closed {
  struct Runs {
    std::uint32_t graph = 0, count = 0;  ///< the first so many runs of the graph
  };
  std::vector<Runs> over;
};

/// To rank 0: what the sender sees of a run. See Stillness.
struct Status {
  GraphRun run;
  std::uint64_t round = 0;               ///< of Ask; 0: nobody had asked
  std::uint64_t said = 0;                ///< how many the sender has said before: later ones count
  std::uint64_t sent = 0, received = 0;  ///< messages about values, and notes, since ever
  bool waits = false;                    ///< nothing moves here, and something is left
  bool over = false;                     ///< nothing is left
  std::string text{};                    ///< what it waits for
};
/// From rank 0: is it still so?
struct Ask {
  std::uint64_t round = 0;
};

/// Once, before all else: so many bytes may travel along to the sender and wait there.
struct Allowance {
  Bytes takes_along = 0;
};

using Message = std::variant<Activate, Request, Credit, Offer, Taken, Failed, Closed, Status, Ask, Allowance>;

/// Those that say something of values.
inline bool is_of_values(const Message& message) noexcept { return message.index() <= 4; }

std::vector<std::byte> bytes_of(const Message& message);

// What front ends tell each other: the protocol does not look at it. No message begins as these do.
inline constexpr std::byte mark_of_note{0xff};
inline std::vector<std::byte> as_note(std::vector<std::byte> bytes) {
  bytes.insert(bytes.begin(), mark_of_note);
  return bytes;
}
inline bool is_note(std::span<const std::byte> bytes) noexcept {
  return !bytes.empty() && bytes.front() == mark_of_note;
}
/// Nothing if these are the bytes of no message.
std::optional<Message> message_of(std::span<const std::byte> bytes);

}  // namespace fairlead::net
