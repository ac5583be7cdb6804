// Counters and records of transferred values. See transfer_statistics.hpp.
#include "front/ranks/transfer_statistics.hpp"

#include <algorithm>

namespace fairlead::front {

TransferStatistics::TransferStatistics(engine::RunnableWorld& world, std::uint32_t ranks, Bytes recorded)
    : world_(world),
      most_records_(static_cast<std::size_t>(recorded) / sizeof(trace::TransferRecord)),
      from_(ranks) {}

void TransferStatistics::incoming(const net::EndpointCommands::Place& value, net::Client::Cause cause) {
  const std::lock_guard guard(mutex_);
  const Time now = world_.now();
  coming_[value.name] = {now, value.bytes, value.from, cause};
  From& from = from_[net::index(value.from)];
  if (from.under_way++ == 0) from.since = now;
}

void TransferStatistics::arrived(const net::ValueName& value) {
  const std::lock_guard guard(mutex_);
  const auto found = coming_.find(value);
  if (found == coming_.end()) return;
  const Time now = world_.now();
  const Coming& it = found->second;
  From& from = from_[net::index(it.from)];
  if (--from.under_way == 0) from.counts.in_flight += now - from.since;
  Statistics::Count& count = from.counts.values[static_cast<std::size_t>(it.cause)];
  count.bytes += it.bytes;
  ++count.copies;
  record({.start = it.since,
          .duration = now - it.since,
          .value = net::HashOfName()(value),
          .bytes = it.bytes,
          .peer = static_cast<std::uint32_t>(net::index(it.from)),
          .comes = true});
  coming_.erase(found);
}

void TransferStatistics::requested(const net::EndpointCommands::Read& value) {
  if (most_records_ == 0) return;
  const std::lock_guard guard(mutex_);
  going_.emplace(value.id, world_.now());
}

void TransferStatistics::delivered(const net::EndpointCommands::Sent& value) {
  if (most_records_ == 0) return;
  const std::lock_guard guard(mutex_);
  const auto found = going_.find(value.id);
  if (found == going_.end()) return;
  record({.start = found->second,
          .duration = world_.now() - found->second,
          .value = net::HashOfName()(value.name),
          .comes = false});
  going_.erase(found);
}

void TransferStatistics::record(const trace::TransferRecord& record) {
  if (most_records_ == 0) return;
  if (records_.size() == most_records_) {
    records_.pop_front();
    ++dropped_;
  }
  records_.push_back(record);
}

std::vector<Statistics::FromRank> TransferStatistics::from_ranks() const {
  const std::lock_guard guard(mutex_);
  std::vector<Statistics::FromRank> all;
  for (const From& from : from_) {
    all.push_back(from.counts);
    if (from.under_way != 0) all.back().in_flight += world_.now() - from.since;
  }
  return all;
}

void TransferStatistics::add_to(trace::Snapshot& snapshot) const {
  const std::lock_guard guard(mutex_);
  snapshot.transfers.assign(records_.begin(), records_.end());
  snapshot.dropped.transfers += dropped_;
  if (dropped_ != 0 && !records_.empty())
    snapshot.complete_from = std::max(snapshot.complete_from, records_.front().end());
}

}  // namespace fairlead::front
