// A graph's run on several ranks: sends the outputs of finished tasks to other ranks, and receives theirs. A value to
// be sent stays unchanged until all receivers have it, just as for readers on this rank. A received value is in a
// fresh datum, which is returned after its last reader.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "front/ptg/arrival_placement.hpp"
#include "front/ptg/deferred_work.hpp"
#include "front/ptg/fresh_data.hpp"
#include "front/ptg/rank_placement.hpp"
#include "front/ranks/network_accesses.hpp"
#include "net/communicator.hpp"

namespace fairlead::ptg {

/// One per graph. The network calls the overridden functions.
class DistributedRun final : public net::Client {
 public:
  /// Received values are queued in `left`, then something() is called, from any thread.
  DistributedRun(engine::RuntimeCore& core, net::Communicator& communicator, const ClassTable& table,
                 FlowValues& values, FreshData& fresh, DeferredWork& left,
                 const front::ReceivePlacementChoice& landing, std::function<void()> something);

  const RankPlacement& placement() const noexcept { return placement_; }
  /// "which belongs to rank 2 ..." for a datum that another rank owns; otherwise empty.
  std::string owner_of(const MemoryPlace& place, const std::int64_t* numbers) const;

  // ---- for the program's thread

  /// Starts a run. `largest_footprint`: in bytes, of the graph's tasks. Throws FootprintError if there is no memory
  /// for values in flight in addition to it.
  void begin(Bytes largest_footprint);
  /// True if no value is in flight to or from this rank.
  bool no_transfers() const { return communicator_.is_quiescent() && holds_.none(); }
  void end();
  /// The run was stopped: ends it in the network and notifies the other ranks.
  void give_up() noexcept;
  /// A counter of network progress; nothing while a transfer is in progress.
  std::optional<std::uint64_t> progress() const;
  /// Reports this rank as idle since moved() had this value. `text`: describes the tasks that remain; empty if only
  /// other ranks have still to fetch values.
  void report_idle(std::uint64_t moved, std::string text) {
    communicator_.report_idle(run_, moved, std::move(text));
  }
  /// Call when fresh data were created: waiting values try again.
  void retry_placement();

  // ---- thread-safe

  /// The outputs of a finished task that go to other ranks. `flows`: by flow, the number of outputs (the whole value
  /// and parts). Pass it to tell() after the readers are counted.
  struct OutgoingOutputs {
    std::array<std::uint8_t, net::most_outputs> flows{};
    std::vector<net::Endpoint::Output> outputs;
  };
  OutgoingOutputs outgoing(TaskInstance& over, const std::int64_t* numbers);
  /// Sends the outputs.
  void send_outputs(const TaskInstance& over, OutgoingOutputs going);
  /// A task of this rank has changed this datum of a collection.
  void changed(const Task& over, std::uint32_t number) { places_.changed(number, over.node); }
  /// True if other ranks have still to fetch values from here. They will, regardless of what this rank holds back.
  bool has_pending_sends() const noexcept { return pending_sends_.load() > 0; }
  /// Notifies the other ranks that this rank cannot continue. For the program's thread.
  void fail(std::string_view why) noexcept { communicator_.fail(why); }

  /// The reason why no more values will arrive; empty if they will.
  std::string failure() const;
  /// True if the reason is a global stall: quiescence on all ranks with tasks remaining.
  bool is_stalled() const {
    return failure().find(net::TerminationDetector::no_progress) != std::string::npos;
  }
  bool has_failed() const noexcept { return has_failed_.load(); }

  void allocate_place(const net::EndpointCommands::Place& place) override;
  void read(const net::EndpointCommands::Read& read) override;
  void arrived(const net::EndpointCommands::Arrived& landed) override;
  void sent(const net::EndpointCommands::Sent& left) override;
  void failed(const std::string& why) override;
  void out_of_memory() noexcept override { core_.out_of_memory(); }

 private:
  // Ids of holds: even for an arriving value, by its number; odd for an outgoing one, by its network id.
  static std::uint64_t hold_of(std::uint32_t coming) noexcept { return std::uint64_t{coming} * 2; }
  static std::uint64_t hold_of(net::OutgoingId id) noexcept { return static_cast<std::uint64_t>(id) * 2 + 1; }
  static front::NetworkAccesses::Datum held(const FlowValue& value) noexcept {
    return {value.id, value.address, value.packed};
  }
  void end_in_network() noexcept;
  void granted(std::uint64_t hold, const net::ValueMemory& spot);
  void give_places(std::uint32_t kind);
  void give(const net::EndpointCommands::Place& place, std::uint32_t number);
  /// Throws UsageError if a task on another rank does not take the value.
  void require_taken(const TaskInstance& over, std::uint16_t flow, const ClassEdge& edge,
                     const std::int64_t* parameters) const;
  /// The error text for a receiver that has no rank.
  std::string nowhere(const TaskInstance& over, std::uint16_t flow, const ClassEdge& edge,
                      const std::int64_t* parameters) const;
  /// The layout of this part of the value.
  net::ValueLayout layout_of(const FlowValue& value, const Part& part) const;
  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const ClassTable& table_;
  FlowValues& values_;
  FreshData& fresh_;
  DeferredWork& left_;
  const std::function<void()> something_;
  const RankPlacement placement_;
  const RankPeriods periods_;
  net::GraphRun run_;  // the current run, or the next
  bool has_begun_ = false;
  ArrivalPlacement places_;
  front::NetworkAccesses holds_;
  std::atomic<bool> has_failed_{false};
  std::atomic<std::int64_t> pending_sends_{
      0};                     // values announced to other ranks that not all receivers have yet
  mutable std::mutex mutex_;  // guards the members below
  // by kind: arriving values for which there is no datum
  std::map<std::uint32_t, std::deque<net::EndpointCommands::Place>> unplaced_;
  struct Coming {
    net::IncomingId id{};
    net::ValueLayout layout;
  };
  // arriving values with a datum that is being acquired or filled, by number
  std::map<std::uint32_t, Coming> coming_;
  std::string failure_;
};

}  // namespace fairlead::ptg
