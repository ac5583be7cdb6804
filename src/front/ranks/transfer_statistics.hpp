// Statistics of values received from and sent to other ranks: number and bytes per rank, and the time during which any
// were in flight. With a tracer, also a record of each value.
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

class TransferStatistics final : public net::ValueObserver {
 public:
  /// `recorded`: bytes for records of single values; 0: no records.
  TransferStatistics(engine::RunnableWorld& world, std::uint32_t ranks, Bytes recorded);

  // ---- any thread, one call at a time

  void incoming(const net::EndpointCommands::Place& value, net::Client::Cause cause) override;
  void arrived(const net::ValueName& value) override;
  void requested(const net::EndpointCommands::Read& value) override;
  void delivered(const net::EndpointCommands::Sent& value) override;

  // ---- for any thread

  /// Counts by sending rank; zero if no values have arrived from it.
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
    Time since{};  // start of the current period with values in flight
  };
  void record(const trace::TransferRecord& record);

  engine::RunnableWorld& world_;
  const std::size_t most_records_;
  mutable std::mutex mutex_;  // guards the fields below
  std::vector<From> from_;
  std::unordered_map<net::ValueName, Coming, net::HashOfName> coming_;
  std::unordered_map<net::OutgoingId, Time> going_;
  std::deque<trace::TransferRecord> records_;
  std::uint64_t dropped_ = 0;
};

}  // namespace fairlead::front
