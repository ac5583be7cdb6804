// See fabric.hpp.
#include "simulate/cluster/fabric.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>

namespace fairlead::simulate {

namespace {
/// Messages up to this size do not wait for payloads.
constexpr Bytes small = 4096;
}  // namespace

/// The network endpoint of one rank.
class SimulatedNetwork::LinkEnd final : public net::Network {
 public:
  LinkEnd(SimulatedNetwork& fabric, net::RankId own) : fabric_(fabric), own_(own) {}
  ~LinkEnd() override { end(); }

  net::RankId own() const noexcept override { return own_; }
  std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(fabric_.ranks_.size()); }
  std::string description() const override { return "a simulated network"; }
  std::string why_not_into_devices() const override { return {}; }
  void begin(Listener& listener) override { rank().listener = &listener; }
  void poke() override {
    fabric_.schedule(fabric_.turns_.timeline().now(), EventType::poked, static_cast<std::uint32_t>(own_));
  }
  void end() override { rank().listener = nullptr; }
  void help(const std::function<bool()>& done) override {
    try {
      fabric_.turns_.wait(index(own_), done);
    } catch (const Error&) {
      // The other ranks no longer answer. What the caller waits for will not happen: it ends as failed, and does not wait.
      if (!done()) throw;
    }
  }
  void expect(const net::EndpointCommands::PostedReceive& expected) override {
    rank().expected[{expected.from, expected.tag}] = expected;
    fabric_.awaited_(static_cast<std::uint32_t>(own_), true);
  }
  void send(net::EndpointCommands::Message message) override {
    Packet packet = packet_to(message.to, message.bytes.size());
    packet.message = std::move(message.bytes);
    packet.is_small = packet.bytes <= small && !fabric_.network_.in_order;
    fabric_.send(std::move(packet));
  }
  void send(const net::EndpointCommands::Payload& payload) override {
    Packet packet = packet_to(payload.to, payload.bytes);
    packet.id = payload.id;
    packet.tag = payload.tag;
    packet.place = payload.from;
    packet.is_payload = true;
    fabric_.send(std::move(packet));
  }
  void abort_out_of_memory() noexcept override {}  // nothing moves any more then, which ends all programs
  void drop(net::PayloadId payload) override {
    if (std::erase_if(rank().expected, [&](const auto& entry) { return entry.second.id == payload; }) != 0)
      fabric_.awaited_(static_cast<std::uint32_t>(own_), false);
    const auto found = rank().sending.find(payload);
    if (found == rank().sending.end()) return;
    fabric_.packets_[found->second].dropped = true;
    rank().sending.erase(found);
  }

 private:
  Rank& rank() const { return fabric_.ranks_[index(own_)]; }
  Packet packet_to(net::RankId to, Bytes bytes) const {
    Packet packet;
    packet.from = own_;
    packet.to = to;
    packet.bytes = bytes;
    return packet;
  }
  SimulatedNetwork& fabric_;
  const net::RankId own_;
};

SimulatedNetwork::SimulatedNetwork(RankScheduler& turns, const machine::NetworkDescription& network,
                                   std::uint32_t ranks, std::function<void(std::uint32_t, bool)> awaited,
                                   std::function<bool(std::uint32_t)> all_busy)
    : turns_(turns),
      network_(network),
      awaited_(std::move(awaited)),
      deaf_(std::move(all_busy)),
      ranks_(ranks),
      first_switch_(2 * ranks),
      number_(turns.timeline().join(*this)) {
  const auto interfaces = static_cast<double>(network.interfaces);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    bytes_per_second_.push_back(interfaces * network.link.bytes_per_second.in);
    bytes_per_second_.push_back(interfaces * network.link.bytes_per_second.out);
  }
  if (network.nodes_per_switch != 0 && network.switch_bytes_per_second > 0)
    bytes_per_second_.resize(first_switch_ + 2 * (ranks / network.nodes_per_switch + 1),
                             network.switch_bytes_per_second);
  free_.resize(bytes_per_second_.size());
}

std::shared_ptr<net::Network> SimulatedNetwork::end_of(net::RankId rank) {
  return std::make_shared<LinkEnd>(*this, rank);
}

std::vector<SimulatedNetwork::Channel> SimulatedNetwork::ways_between(std::uint32_t from,
                                                                      std::uint32_t to) const {
  // An interface that is not duplex has one channel for both directions.
  std::vector<Channel> ways{2 * from};
  if (bytes_per_second_.size() > first_switch_) {
    const auto here = static_cast<Channel>(from / network_.nodes_per_switch);
    const auto there = static_cast<Channel>(to / network_.nodes_per_switch);
    if (here != there) ways.insert(ways.end(), {first_switch_ + 2 * here, first_switch_ + 2 * there + 1});
  }
  ways.push_back(network_.link.duplex ? 2 * to + 1 : 2 * to);
  return ways;
}

Duration SimulatedNetwork::crossing(Channel way, Bytes bytes) const {
  return Duration(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_second_[way] * 1e9)));
}

void SimulatedNetwork::schedule(Time at, EventType what, std::uint32_t which) {
  future_.push({at, scheduled_++, what, which});
  turns_.timeline().changed(number_);
}

Duration SimulatedNetwork::copying(Bytes bytes) const {
  return Duration(std::llround(static_cast<double>(bytes) * network_.per_byte_nanoseconds));
}

bool SimulatedNetwork::all_compute(std::uint32_t rank) const {
  return network_.polled_by_workers && deaf_ && deaf_(rank);
}

void SimulatedNetwork::send(Packet packet) {
  const auto from = static_cast<std::uint32_t>(packet.from), to = static_cast<std::uint32_t>(packet.to);
  Rank& sender = ranks_[from];
  ++sender.crossed.messages_out;
  sender.crossed.bytes_out += packet.bytes;
  packet.ways = ways_between(from, to);
  if (unused_.empty()) {
    unused_.push_back(static_cast<Number>(packets_.size()));
    packets_.emplace_back();
  }
  const Number number = unused_.back();
  unused_.pop_back();
  if (packet.is_payload) sender.sending[packet.id] = number;
  // The head leaves while the rest is still being copied.
  const Duration bytes_take = copying(packet.bytes), takes = network_.per_message + bytes_take;
  const Time begins = std::max(sender.thread_free, turns_.timeline().now()) + network_.per_message;
  sender.thread_free = packet.tail = begins + bytes_take;
  sender.crossed.cpu_time += takes;
  if (all_compute(from)) sender.owed += takes;
  packets_[number] = std::move(packet);
  schedule(begins, EventType::reaches_channel, number);
}

/// The head of the packet arrives at its next channel.
void SimulatedNetwork::reaches_channel(Number number) {
  Packet& packet = packets_[number];
  const Time now = turns_.timeline().now();
  if (packet.is_small) {
    Duration takes = network_.link.latency;
    for (const Channel way : packet.ways) {
      free_[way] = std::max(free_[way], now) + crossing(way, packet.bytes);
      takes += crossing(way, packet.bytes);
    }
    packet.head = std::max(now, packet.tail) + takes;
    return schedule(packet.head, EventType::arrived, number);
  }
  const Channel way = packet.ways[packet.at];
  const Time begins = std::max(free_[way], now);
  const Duration takes = crossing(way, packet.bytes);
  free_[way] = begins + takes;
  const Duration latency = packet.at == 0 ? network_.link.latency : Duration{};
  packet.head = begins;
  packet.tail = std::max(packet.tail, begins + takes);
  if (packet.at == 0 && packet.is_payload) {
    if (ranks_[index(packet.from)].links != nullptr) schedule(begins, EventType::comes_from_memory, number);
    schedule(packet.tail, EventType::has_left, number);
  }
  packet.tail += latency;
  if (++packet.at < packet.ways.size()) return schedule(begins + latency, EventType::reaches_channel, number);
  if (packet.is_payload && ranks_[index(packet.to)].links != nullptr)
    schedule(begins, EventType::comes_to_memory, number);
  schedule(packet.tail, packet.is_payload ? EventType::is_through : EventType::arrived, number);
}

/// The head of the packet is at the interface.
void SimulatedNetwork::cross_behind(Number number, bool out) {
  Packet& packet = packets_[number];
  Rank& rank = ranks_[index(out ? packet.from : packet.to)];
  const void* place = packet.place;
  if (!out) {
    const auto found = rank.expected.find({packet.from, packet.tag});
    if (found == rank.expected.end()) return;  // discarded
    place = found->second.place;
  }
  if (rank.links == nullptr || packet.dropped) return;
  const bool crosses = rank.links->cross(place, packet.bytes, out, packet.tag, [this, number, out] {
    if (out) has_left(number);
    is_through(number);
  });
  if (!crosses) return;
  ++packet.to_arrive;
  packet.to_leave += out;
}

/// One of the packet's crossings is complete; after the last one it has arrived.
void SimulatedNetwork::is_through(Number number) {
  if (--packets_[number].to_arrive == 0) arrived(number);
}

void SimulatedNetwork::arrived(Number number) {
  const auto to = static_cast<std::uint32_t>(packets_[number].to);
  if (all_compute(to)) return ranks_[to].unprocessed.push_back(number);
  process(number);
}

/// The packet has arrived completely. The parts that could be copied on arrival have been.
void SimulatedNetwork::process(Number number) {
  const Packet& packet = packets_[number];
  Rank& rank = ranks_[index(packet.to)];
  const Duration bytes_take = copying(packet.bytes);
  const Time begins = std::max(rank.thread_free, packet.head);
  rank.thread_free = std::max(begins + bytes_take, turns_.timeline().now()) + network_.per_message;
  rank.crossed.cpu_time += network_.per_message + bytes_take;
  schedule(rank.thread_free, EventType::processed, number);
}

void SimulatedNetwork::has_left(Number number) {
  Packet& packet = packets_[number];
  if (--packet.to_leave != 0 || packet.dropped) return;
  Rank& sender = ranks_[index(packet.from)];
  sender.sending.erase(packet.id);
  if (sender.listener != nullptr) sender.listener->left(packet.id);
}

void SimulatedNetwork::between_tasks(std::uint32_t of) {
  Rank& rank = ranks_[of];
  if (!network_.polled_by_workers) return;
  rank.thread_free =
      std::max(rank.thread_free, turns_.timeline().now() + std::exchange(rank.owed, Duration{}));
  for (const Number number : rank.unprocessed) process(number);
  rank.unprocessed.clear();
}

void SimulatedNetwork::processed(Number number) {
  const Packet packet = std::move(packets_[number]);
  packets_[number] = {};
  unused_.push_back(number);
  Rank& rank = ranks_[index(packet.to)];
  ++rank.crossed.messages_in;
  rank.crossed.bytes_in += packet.bytes;
  if (rank.listener == nullptr) return;
  if (!packet.is_payload) {
    rank.listener->came(packet.from, packet.message);
  } else if (!packet.dropped) {
    const auto found = rank.expected.find({packet.from, packet.tag});
    if (found == rank.expected.end()) return;  // discarded
    const net::PayloadId expected = found->second.id;
    rank.expected.erase(found);
    awaited_(static_cast<std::uint32_t>(packet.to), false);
    rank.listener->landed(expected);
  }
  turns_.notify(index(packet.to));
}

bool SimulatedNetwork::step() {
  if (future_.empty()) return false;
  const NetworkEvent happening = future_.top();
  future_.pop();
  turns_.timeline().reaches(happening.at);
  switch (happening.what) {
    case EventType::reaches_channel:
      reaches_channel(happening.which);
      break;
    case EventType::comes_from_memory:
    case EventType::comes_to_memory:
      cross_behind(happening.which, happening.what == EventType::comes_from_memory);
      break;
    case EventType::is_through:
      is_through(happening.which);
      break;
    case EventType::has_left:
      has_left(happening.which);
      break;
    case EventType::arrived:
      arrived(happening.which);
      break;
    case EventType::processed:
      processed(happening.which);
      break;
    case EventType::poked:
      if (net::Network::Listener* const listener = ranks_[happening.which].listener) listener->poked();
      break;
  }
  return true;
}

}  // namespace fairlead::simulate
