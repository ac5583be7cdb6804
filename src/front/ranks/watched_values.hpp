// What a rank has seen of values that come from others and go to them: how many and how much from each, how long some were on
// their way; with a tracer, each of them.
#pragma once
#include <fairlead/statistics.hpp>

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/runtime_core.hpp"
#include "net/client.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::front {

class WatchedValues final : public net::ValueWatch {
 public:
  /// `recorded`: bytes for records of single values; 0: there are none.
  WatchedValues(engine::DrivenWorld& world, std::uint32_t ranks, Bytes recorded);

  // ---- one call at a time, by any thread

  void comes(const net::Commands::Place& value, net::Client::Cause cause) override;
  void is_here(const net::ValueName& value) override;
  void goes(const net::Commands::Read& value) override;
  void has_gone(const net::Commands::Left& value) override;

  // ---- any thread's

  /// By rank that they came from; empty if none has come.
  std::vector<Statistics::FromRank> from_ranks() const;
  void add_to(trace::Snapshot& snapshot) const;

 private:
  struct Coming {
    Time since{};
    Bytes bytes = 0;
    net::RankId from = net::no_rank;
    net::Client::Cause cause{};
  };
  struct From {
    Statistics::FromRank counts;
    std::uint32_t under_way = 0;
    Time since{};  // some are
  };
  void record(const trace::TransferRecord& record);

  engine::DrivenWorld& world_;
  const std::size_t most_records_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<From> from_;
  std::unordered_map<net::ValueName, Coming, net::HashOfName> coming_;
  std::unordered_map<net::OutgoingId, Time> going_;
  std::deque<trace::TransferRecord> records_;
  std::uint64_t dropped_ = 0;
};

}  // namespace fairlead::front
