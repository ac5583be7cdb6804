// One rank's part of the protocol: who is told of the ends of tasks, and how values come to those who need them. DAGuE
// (Bosilca et al. 2012), section 4.4. It is passive: it is told what has happened, on this rank and in the network,
// and answers with what is to be done. So the same endpoint runs under a simulated network that reorders and delays,
// between threads, and over MPI.
//
//   a task is over      -> activate, one to each rank that it concerns; this rank goes on at once
//   activate comes      -> places are looked for; then a request asks for the values
//   request comes       -> the value is made readable, and sent
//   payload has landed  -> whoever waits for that value goes on, though others of the same task are under way
//
// With `eager_bytes`, small values come with the activate; with `tree_from`, who gets a value that many get passes it
// on. With `offered_from`, ranks that can read this one's memory need not ask: a value is made readable at once, an offer
// says where it is, and who has copied it says so. Nobody keeps how far others are.
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
#include "net/runs.hpp"
#include "net/stillness.hpp"

namespace fairlead::net {

/// One owner at a time.
class Endpoint {
 public:
  Endpoint(RankId own, std::uint32_t ranks, const Protocol& protocol);

  // ---- what happens on this rank

  /// The run has begun here: what others have told of it before comes now. `fingerprint`: of the graph, the same
  /// on all ranks that run the same program. `room`: what it leaves to all runs together, as long as it is open. `gated`:
  /// what others tell of waits for expect().
  void begin(const GraphRun& run, std::uint64_t fingerprint, const Room& room, Commands& out,
             bool gated = false);
  /// The value that others call so (see Gate) may come. Once for each. Whether somebody has told of it.
  bool expect(const GraphRun& run, std::uint64_t key, Commands& out);
  /// Nothing of that run concerns this rank any more.
  void end(const GraphRun& run, Commands& out);
  /// An output of a task that is over: who gets it.
  struct Output {
    std::uint8_t number = 0;
    std::uint32_t like = 0;
    std::uint64_t value = 0;  ///< the front end's number. It stays until Commands::left has it
    Bytes bytes = 0;          ///< 0: there is none
    std::vector<RankId> to{};
    Bytes takes = 0;  ///< of memory, if that is more: it is a part of what its datum has
    Layout layout{};  ///< where that lies; the same at both ends
  };
  void over(const GraphRun& run, std::uint64_t task, std::span<const Output> outputs, Commands& out);
  /// The answers to Commands::places and reads.
  void placed(IncomingId id, std::uint64_t value, const Spot& spot, Commands& out);
  void readable(OutgoingId id, const void* address, Commands& out);
  /// Grows with everything that is told here but by the network's own questions.
  std::uint64_t activity() const noexcept { return counts_.activity; }
  /// Nothing moves on this rank, and tasks of the run are left, as `text` says, or only what others have to ask for
  /// (no text); that was so when activity() was that.
  void waits(const GraphRun& run, std::uint64_t activity, std::string text, Commands& out);
  /// This rank takes part in nothing any more: whoever still needs it hears that it will wait in vain.
  void close(Commands& out);
  /// Nobody takes part in anything any more, or can.
  bool all_closed() const noexcept { return closed_.size() + 1 == along_.size() || !failure_.empty(); }
  /// This rank cannot go on: all others hear why. Once.
  void fail(std::string text, Commands& out);
  /// The same, where the others hear of it in another way or not at all.
  void lost(const std::string& text, Commands& out) {
    if (failure_.empty()) out.failure = failure_ = text;
  }

  /// What front ends do by themselves, and values may wait for.
  enum class Beside : std::uint8_t {
    says,             // something to another rank
    hears,            // something from there
    keeps_back,       // values, until another rank asks for them
    keeps_back_none,  // any more for that rank
  };
  void beside(Beside what, Commands& out);

  // ---- what happens in the network

  void message(RankId from, std::span<const std::byte> bytes, Commands& out);
  /// Of Commands::expected and payloads.
  void landed(PayloadId payload, Commands& out);
  void left(PayloadId payload, Commands& out);
  /// Of Commands::copies. `good`: it was there with its mark until all of it had been read.
  void copied(PayloadId payload, bool good, Commands& out);

  /// Nobody waits for this rank, and it for nobody, as far as it knows.
  bool quiet() const noexcept {
    return outgoing_.none() && incoming_.none() && announcements_.empty() && counts_.kept_back_for == 0;
  }
  /// Nothing is under way to here, nor from here.
  bool still() const noexcept { return outgoing_.idle() && incoming_.none() && announcements_.empty(); }
  const Traffic& traffic() const noexcept { return traffic_; }
  /// Why nothing can go on any more; empty: it can.
  const std::string& failure() const noexcept { return failure_; }

 private:
  /// The end of a task of which others are told as soon as what travels along can be read.
  struct Announcement {
    struct To {
      RankId rank = no_rank;
      Activate activate;
    };
    struct Read {
      std::uint8_t output = 0;
      OutgoingId id{};
      std::vector<std::byte> bytes;
      Layout layout{};
    };
    std::vector<To> to;
    std::vector<Read> read;  ///< what travels along
    std::size_t unread = 0;
  };
  /// An output as it is told of.
  struct Told {
    std::uint8_t number = 0;
    std::uint32_t like = 0;
    std::uint64_t value = 0;
    Outgoing::Sizes sizes{};
    std::vector<Branch> to{};
  };
  void handle(RankId from, Activate activate, Commands& out);
  void handle(RankId from, const Request& request, Commands& out);
  void handle(RankId from, const Credit& credit, Commands& out);
  void handle(RankId from, const Offer& offer, Commands& out);
  void handle(RankId from, const Taken& taken, Commands& out);
  void handle(RankId from, const Failed& failed, Commands& out);
  void handle(RankId from, Closed closed, Commands& out);
  void handle(RankId from, const Status& status, Commands& out);
  void handle(RankId from, const Ask& ask, Commands& out);
  void handle(RankId from, const Allowance& allowance, Commands& out);
  void say(Status status, Commands& out);
  void moved() noexcept {
    ++counts_.activity;
    if (status_ && !status_->over) status_.reset();
  }
  void check_closed(RankId rank, const GraphRun& run, Commands& out);
  void tell(const GraphRun& run, std::uint64_t task, std::uint64_t fingerprint, std::span<const Told> outputs,
            std::vector<OutgoingId>* of_outputs, Commands& out);
  void send(Announcement& announcement, Commands& out);
  void send_if_it_can_go(std::uint64_t announcement, Commands& out);
  void go_on(std::vector<Incoming::There>& there, Commands& out);
  std::optional<OutgoingId> pass_on(const ValueName& name, std::uint32_t like, std::uint64_t value,
                                    const Outgoing::Sizes& sizes, const std::vector<RankId>& below,
                                    Commands& out);

  const RankId own_;
  const Protocol protocol_;
  const DeliberateMistake mistake_;
  Traffic traffic_;
  Outgoing outgoing_;
  Incoming incoming_;
  Runs runs_;
  std::map<GraphRun, std::vector<std::pair<RankId, Activate>>> not_begun_;  // here; told of by others
  std::uint64_t next_announcement_ = 0;
  std::unordered_map<std::uint64_t, Announcement> announcements_;
  std::unordered_map<OutgoingId, std::uint64_t> announced_by_;  // of values that are read for messages
  struct Along {
    Bytes room = 0;        ///< that rank has, for what goes there
    bool is_known = true;  ///< how much that is at first: else what is to travel along waits
    Bytes owed = 0;        ///< of what came from there: the place is free again, and that is not yet told
  };
  std::vector<Along> along_;                          // by rank
  std::unordered_map<std::uint32_t, Closed> closed_;  // by rank
  std::string failure_;
  struct Counts {
    std::uint64_t activity = 0, said = 0;
    std::uint64_t notes_sent = 0, received = 0;  // the latter: notes and messages of values
    std::uint64_t kept_back_for = 0;             // so many ranks, now
  };
  Counts counts_;
  std::optional<Status> status_;  // that still holds
  Stillness stillness_;
};

}  // namespace fairlead::net
