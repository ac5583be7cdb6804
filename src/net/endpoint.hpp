// One rank's part of the data exchange between ranks: it announces finished tasks, and moves their values to the ranks
// that need them. DAGuE (Bosilca et al. 2012), section 4.4. It is passive: callers report events of this rank and of
// the network, and it returns commands. So the same endpoint runs under a simulated network that reorders and delays,
// between threads, and over MPI.
//
//   a task finishes    -> one activate to each rank that it concerns; this rank continues at once
//   activate arrives   -> memory is reserved; then a request asks for the values
//   request arrives    -> the value is made readable, and sent
//   payload arrives    -> tasks that wait for that value continue, even if other values of its task are in flight
//
// With `eager_bytes`, small values travel inside the activate; with `tree_from`, ranks pass a value on along a tree.
// With `offered_from`, ranks that can read this rank's memory need no request: the value is made readable at once, an
// offer states its address, and the reader acknowledges the copy. No rank tracks the progress of others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/incoming.hpp"
#include "net/multicast.hpp"
#include "net/outgoing.hpp"
#include "net/run_registry.hpp"
#include "net/termination_detection.hpp"

namespace fairlead::net {

/// Not thread-safe.
class Endpoint {
 public:
  Endpoint(RankId own, std::uint32_t ranks, const Protocol& protocol);

  // ---- events of this rank

  /// Starts a run; messages that arrived for it before are processed now. `fingerprint`: a hash of the graph, equal
  /// on all ranks that run the same program. `room`: memory that the run leaves for values in transit while it is
  /// open. `gated`: values that other ranks announce wait for expect().
  void begin(const GraphRun& run, std::uint64_t fingerprint, const TransitLimits& room, EndpointCommands& out,
             bool gated = false);
  /// The value with this key (see Gate) may come. Once for each key. Returns whether it had been announced.
  bool expect(const GraphRun& run, std::uint64_t key, EndpointCommands& out);
  /// This rank is done with the run.
  void end(const GraphRun& run, EndpointCommands& out);
  /// An output of a finished task, and the ranks that get it.
  struct Output {
    std::uint8_t number = 0;
    std::uint32_t datum_type = 0;
    std::uint64_t value = 0;  ///< the front end's number. Must stay valid until EndpointCommands::left
    Bytes bytes = 0;          ///< 0: no value
    std::vector<RankId> to{};
    Bytes memory_bytes = 0;  ///< bytes of memory, if more than `bytes`: the value is a part of its datum
    ValueLayout layout{};    ///< of the value in its datum; the same on both ranks
  };
  /// A task has finished here.
  void task_finished(const GraphRun& run, std::uint64_t task, std::span<const Output> outputs,
                     EndpointCommands& out);
  /// The replies to EndpointCommands::places and reads.
  void placed(IncomingId id, std::uint64_t value, const ValueMemory& spot, EndpointCommands& out);
  void readable(OutgoingId id, const void* address, EndpointCommands& out);
  /// A counter of all events, except messages of termination detection.
  std::uint64_t activity() const noexcept { return counts_.activity; }
  /// Reports that this rank is idle in the run, but not finished: tasks are left, as `text` states, or other ranks
  /// have yet to request values (empty text). `activity`: the counter when that was so.
  void report_idle(const GraphRun& run, std::uint64_t activity, std::string text, EndpointCommands& out);
  /// This rank takes part in nothing any more. Ranks that still need it fail.
  void close(EndpointCommands& out);
  /// True if all ranks have closed, or none can continue.
  bool all_closed() const noexcept { return closed_.size() + 1 == along_.size() || !failure_.empty(); }
  /// This rank cannot continue; reports the reason to all other ranks. Once.
  void fail(std::string text, EndpointCommands& out);
  /// As fail(), if the others are notified in another way or cannot be.
  void lost(const std::string& text, EndpointCommands& out) {
    if (failure_.empty()) out.failure = failure_ = text;
  }

  /// Activity of front ends outside of the protocol, which may let values go on.
  enum class FrontEndActivity : std::uint8_t {
    note_sent,       // sends a note to another rank
    note_received,   // receives a note
    withholds,       // withholds values until another rank asks for them
    withholds_none,  // withholds none for that rank any more
  };
  void note_activity(FrontEndActivity what, EndpointCommands& out);

  // ---- events of the network

  /// Processes a message of another rank; malformed bytes fail the run.
  void message(RankId from, std::span<const std::byte> bytes, EndpointCommands& out);
  /// For EndpointCommands::expected and payloads.
  void landed(PayloadId payload, EndpointCommands& out);
  void left(PayloadId payload, EndpointCommands& out);
  /// For EndpointCommands::copies. `good`: the value and its mark were unchanged until all bytes had been read.
  void copied(PayloadId payload, bool good, EndpointCommands& out);

  /// True if this rank waits for no other rank, and none waits for it, as far as is known here.
  bool is_quiescent() const noexcept {
    return outgoing_.none() && incoming_.none() && announcements_.empty() && counts_.kept_back_for == 0;
  }
  /// True if no value is in flight from or to this rank.
  bool nothing_in_flight() const noexcept {
    return outgoing_.idle() && incoming_.none() && announcements_.empty();
  }
  const NetworkTraffic& traffic() const noexcept { return traffic_; }
  /// Why no rank can continue; empty: all can.
  const std::string& failure() const noexcept { return failure_; }

 private:
  /// An activate that waits until the values inside it can be read.
  struct Announcement {
    struct To {
      RankId rank = no_rank;
      Activate activate;
    };
    struct Read {
      std::uint8_t output = 0;
      OutgoingId id{};
      std::vector<std::byte> bytes;
      ValueLayout layout{};
    };
    std::vector<To> to;
    std::vector<Read> read;  ///< values inside the activates
    std::size_t unread = 0;
  };
  /// An output to announce.
  struct AnnouncedOutput {
    std::uint8_t number = 0;
    std::uint32_t like = 0;
    std::uint64_t value = 0;
    Outgoing::Sizes sizes{};
    std::vector<MulticastBranch> to{};
  };
  void handle(RankId from, Activate activate, EndpointCommands& out);
  void handle(RankId from, const Request& request, EndpointCommands& out);
  void handle(RankId from, const Credit& credit, EndpointCommands& out);
  void handle(RankId from, const Offer& offer, EndpointCommands& out);
  void handle(RankId from, const ReadAcknowledged& taken, EndpointCommands& out);
  void handle(RankId from, const Failed& failed, EndpointCommands& out);
  void handle(RankId from, Closed closed, EndpointCommands& out);
  void handle(RankId from, const Status& status, EndpointCommands& out);
  void handle(RankId from, const StatusRequest& ask, EndpointCommands& out);
  void handle(RankId from, const Allowance& allowance, EndpointCommands& out);
  void say(Status status, EndpointCommands& out);
  void moved() noexcept {
    ++counts_.activity;
    if (status_ && !status_->finished) status_.reset();
  }
  void check_closed(RankId rank, const GraphRun& run, EndpointCommands& out);
  void announce(const GraphRun& run, std::uint64_t task, std::uint64_t fingerprint,
                std::span<const AnnouncedOutput> outputs, std::vector<OutgoingId>* of_outputs,
                EndpointCommands& out);
  void send(Announcement& announcement, EndpointCommands& out);
  void send_if_it_can_go(std::uint64_t announcement, EndpointCommands& out);
  void process_arrivals(std::vector<Incoming::Arrived>& there, EndpointCommands& out);
  std::optional<OutgoingId> pass_on(const ValueName& name, std::uint32_t like, std::uint64_t value,
                                    const Outgoing::Sizes& sizes, const std::vector<RankId>& below,
                                    EndpointCommands& out);

  const RankId own_;
  const Protocol protocol_;
  const DeliberateProtocolMistake mistake_;
  NetworkTraffic traffic_;
  Outgoing outgoing_;
  Incoming incoming_;
  RunRegistry runs_;
  // messages for runs that have not started here
  std::map<GraphRun, std::vector<std::pair<RankId, Activate>>> early_messages_;
  std::uint64_t next_announcement_ = 0;
  std::unordered_map<std::uint64_t, Announcement> announcements_;
  std::unordered_map<OutgoingId, std::uint64_t> announced_by_;  // values that are read for activates
  struct EagerCredit {
    Bytes room = 0;        ///< bytes of eager values that the rank can still take
    bool is_known = true;  ///< false: eager values wait for the rank's Allowance
    Bytes owed = 0;        ///< bytes consumed and not yet returned as credit
  };
  std::vector<EagerCredit> along_;                    // by rank
  std::unordered_map<std::uint32_t, Closed> closed_;  // by rank
  std::string failure_;
  struct Counts {
    std::uint64_t activity = 0, statuses_sent = 0;
    std::uint64_t notes_sent = 0, received = 0;  // received: notes, and messages about values
    std::uint64_t kept_back_for = 0;             // ranks for which front ends withhold values now
  };
  Counts counts_;
  std::optional<Status> status_;  // the last report to termination detection, if still valid
  TerminationDetector termination_;
};

}  // namespace fairlead::net
