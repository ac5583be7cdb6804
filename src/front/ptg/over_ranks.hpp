// A graph's run over several ranks: which ends of tasks are told to others, and what comes from them. What a task leaves
// for others stays as it is until they have it, like what it leaves for tasks of this rank; what comes is a fresh value,
// gone after the last who uses it.
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

#include "front/ptg/fresh_data.hpp"
#include "front/ptg/landing_places.hpp"
#include "front/ptg/left_over.hpp"
#include "front/ptg/placement.hpp"
#include "front/ranks/rank_accesses.hpp"
#include "net/communicator.hpp"

namespace fairlead::ptg {

class OverRanks final : public net::Client {
 public:
  /// What comes is left in `left`, and then something() is called. Any thread.
  OverRanks(engine::RuntimeCore& core, net::Communicator& communicator, const ClassTable& table,
            Values& values, FreshData& fresh, LeftOver& left, const front::LandingChoice& landing,
            std::function<void()> something);

  const Placement& placement() const noexcept { return placement_; }
  /// "which belongs to rank 2" of a datum that another has; empty: none has it.
  std::string owner_of(const MemoryPlace& place, const std::int64_t* numbers) const;

  // ---- the program's thread's

  /// `largest_footprint`: of the graph's tasks. Throws FootprintError if there is no memory for values of others beside
  /// it.
  void begin(Bytes largest_footprint);
  /// Nobody waits for this rank, nor it for anybody, as far as values are concerned.
  bool quiet() const { return communicator_.quiet() && holds_.none(); }
  void end();
  /// The run was stopped: end(), as far as the network is concerned, and the other ranks are notified.
  void give_up() noexcept;
  /// What has happened in the network, as a number that grows; nothing while something happens.
  std::optional<std::uint64_t> moved() const;
  /// Nothing moves on this rank, and did not when moved() was that; tasks are left, as the text says, or
  /// (no text) others have not asked for what they left.
  void waits(std::uint64_t moved, std::string text) { communicator_.waits(run_, moved, std::move(text)); }
  /// Data were made: whoever waits for one has another turn.
  void look_again();

  // ---- any thread's

  /// How often values of a task that is over go to other ranks, by flow: as a whole, and each part. They are to be told after whoever
  /// counts has counted them.
  struct Going {
    std::array<std::uint8_t, net::most_outputs> flows{};
    std::vector<net::Endpoint::Output> outputs;
  };
  Going going(ActiveTask& over, const std::int64_t* numbers);
  void tell(const ActiveTask& over, Going going);
  /// A task of this rank is over that has changed these of the data of collections.
  void changed(const Task& over, std::uint32_t number) { places_.changed(number, over.node); }
  /// Others have still to get values from here: they will, whatever is held back here.
  bool owes() const noexcept { return owed_.load() > 0; }
  /// The others hear that this rank cannot go on. The program's thread's.
  void fail(std::string_view why) noexcept { communicator_.fail(why); }

  /// Why no more will come; empty: it will.
  std::string failure() const;
  /// So: nothing moves on any rank, and tasks are left.
  bool stopped() const { return failure().find(net::Stillness::nothing_moves) != std::string::npos; }
  bool has_failed() const noexcept { return has_failed_.load(); }

  void find_place(const net::Commands::Place& place) override;
  void read(const net::Commands::Read& read) override;
  void landed(const net::Commands::Landed& landed) override;
  void left(const net::Commands::Left& left) override;
  void failed(const std::string& why) override;
  void out_of_memory() noexcept override { core_.out_of_memory(); }

 private:
  // What holds are called: by the number of the value that comes, or by what the network calls the one that goes.
  static std::uint64_t hold_of(std::uint32_t coming) noexcept { return std::uint64_t{coming} * 2; }
  static std::uint64_t hold_of(net::OutgoingId id) noexcept { return static_cast<std::uint64_t>(id) * 2 + 1; }
  static front::RankAccesses::Datum held(const Value& value) noexcept {
    return {value.id, value.address, value.packed};
  }
  void end_in_network() noexcept;
  void granted(std::uint64_t hold, const net::Spot& spot);
  void give_places(std::uint32_t kind);
  void give(const net::Commands::Place& place, std::uint32_t number);
  /// Throws UsageError if a task on another rank does not take the value.
  void require_taken(const ActiveTask& over, std::uint16_t flow, const Edge& edge,
                     const std::int64_t* parameters) const;
  /// Why there is no rank for that end of an edge.
  std::string nowhere(const ActiveTask& over, std::uint16_t flow, const Edge& edge,
                      const std::int64_t* parameters) const;
  /// Of that part of what the value has.
  net::Layout layout_of(const Value& value, const Part& part) const;
  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const ClassTable& table_;
  Values& values_;
  FreshData& fresh_;
  LeftOver& left_;
  const std::function<void()> something_;
  const Placement placement_;
  const RankPeriods periods_;
  net::GraphRun run_;  // the next, or the present one
  bool has_begun_ = false;
  LandingPlaces places_;
  front::RankAccesses holds_;
  std::atomic<bool> has_failed_{false};
  std::atomic<std::int64_t> owed_{0};  // values that were told of, and are not with all who get them
  mutable std::mutex mutex_;           // guards what follows
  std::map<std::uint32_t, std::deque<net::Commands::Place>> placeless_;  // by kind: no datum is there
  struct Coming {
    net::IncomingId id{};
    net::Layout layout;
  };
  std::map<std::uint32_t, Coming> coming_;  // values whose places are held, by number
  std::string failure_;
};

}  // namespace fairlead::ptg
