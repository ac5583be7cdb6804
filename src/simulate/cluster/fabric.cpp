// See fabric.hpp.
#include "simulate/cluster/fabric.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>

namespace fairlead::simulate {

namespace {
/// What is no larger does not wait for payloads to be through.
constexpr Bytes small = 4096;
}  // namespace

/// One rank's.
class Fabric::End final : public net::Network {
 public:
  End(Fabric& fabric, net::RankId own) : fabric_(fabric), own_(own) {}
  ~End() override { end(); }

  net::RankId own() const noexcept override { return own_; }
  std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(fabric_.ranks_.size()); }
  std::string description() const override { return "a simulated network"; }
  std::string why_not_into_devices() const override { return {}; }
  void begin(Listener& listener) override { rank().listener = &listener; }
  void poke() override {
    fabric_.schedule(fabric_.turns_.timeline().now(), What::poked, static_cast<std::uint32_t>(own_));
  }
  void end() override { rank().listener = nullptr; }
  void help(const std::function<bool()>& done) override {
    try {
      fabric_.turns_.wait(index(own_), done);
    } catch (const Error&) {
      // Others do not answer any more: whoever waits for that has been told.
    }
  }
  void expect(const net::Commands::Expected& expected) override {
    rank().expected[{expected.from, expected.tag}] = expected;
    fabric_.awaited_(static_cast<std::uint32_t>(own_), true);
  }
  void send(net::Commands::Message message) override {
    Packet packet = packet_to(message.to, message.bytes.size());
    packet.message = std::move(message.bytes);
    packet.is_small = packet.bytes <= small && !fabric_.network_.in_order;
    fabric_.send(std::move(packet));
  }
  void send(const net::Commands::Payload& payload) override {
    Packet packet = packet_to(payload.to, payload.bytes);
    packet.id = payload.id;
    packet.tag = payload.tag;
    packet.place = payload.from;
    packet.is_payload = true;
    fabric_.send(std::move(packet));
  }
  void break_off() noexcept override {}  // nothing moves any more then, which ends all programs
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
  Fabric& fabric_;
  const net::RankId own_;
};

Fabric::Fabric(Turns& turns, const machine::NetworkDescription& network, std::uint32_t ranks,
               std::function<void(std::uint32_t, bool)> awaited, std::function<bool(std::uint32_t)> deaf)
    : turns_(turns),
      network_(network),
      awaited_(std::move(awaited)),
      deaf_(std::move(deaf)),
      ranks_(ranks),
      first_switch_(2 * ranks),
      number_(turns.timeline().join(*this)) {
  const auto interfaces = static_cast<double>(network.interfaces);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    bytes_per_second_.push_back(interfaces * network.wire.bytes_per_second.back);
    bytes_per_second_.push_back(interfaces * network.wire.bytes_per_second.away);
  }
  if (network.nodes_per_switch != 0 && network.switch_bytes_per_second > 0)
    bytes_per_second_.resize(first_switch_ + 2 * (ranks / network.nodes_per_switch + 1),
                             network.switch_bytes_per_second);
  free_.resize(bytes_per_second_.size());
}

std::shared_ptr<net::Network> Fabric::end_of(net::RankId rank) { return std::make_shared<End>(*this, rank); }

std::vector<Fabric::Way> Fabric::ways_between(std::uint32_t from, std::uint32_t to) const {
  // An interface that is not duplex has one way for both directions.
  std::vector<Way> ways{2 * from};
  if (bytes_per_second_.size() > first_switch_) {
    const auto here = static_cast<Way>(from / network_.nodes_per_switch);
    const auto there = static_cast<Way>(to / network_.nodes_per_switch);
    if (here != there) ways.insert(ways.end(), {first_switch_ + 2 * here, first_switch_ + 2 * there + 1});
  }
  ways.push_back(network_.wire.duplex ? 2 * to + 1 : 2 * to);
  return ways;
}

Duration Fabric::crossing(Way way, Bytes bytes) const {
  return Duration(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_second_[way] * 1e9)));
}

void Fabric::schedule(Time at, What what, std::uint32_t which) {
  future_.push({at, scheduled_++, what, which});
  turns_.timeline().changed(number_);
}

Duration Fabric::copying(Bytes bytes) const {
  return Duration(std::llround(static_cast<double>(bytes) * network_.per_byte_nanoseconds));
}

bool Fabric::all_compute(std::uint32_t rank) const {
  return network_.heard_between_tasks && deaf_ && deaf_(rank);
}

void Fabric::send(Packet packet) {
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
  // Its head goes out while the rest is still copied.
  const Duration bytes_take = copying(packet.bytes), takes = network_.per_message + bytes_take;
  const Time begins = std::max(sender.thread_free, turns_.timeline().now()) + network_.per_message;
  sender.thread_free = packet.tail = begins + bytes_take;
  sender.crossed.speaking += takes;
  if (all_compute(from)) sender.owed += takes;
  packets_[number] = std::move(packet);
  schedule(begins, What::comes_to_way, number);
}

/// Its head stands before the next of its ways.
void Fabric::comes_to_way(Number number) {
  Packet& packet = packets_[number];
  const Time now = turns_.timeline().now();
  if (packet.is_small) {
    Duration takes = network_.wire.latency;
    for (const Way way : packet.ways) {
      free_[way] = std::max(free_[way], now) + crossing(way, packet.bytes);
      takes += crossing(way, packet.bytes);
    }
    packet.head = std::max(now, packet.tail) + takes;
    return schedule(packet.head, What::is_there, number);
  }
  const Way way = packet.ways[packet.at];
  const Time begins = std::max(free_[way], now);
  const Duration takes = crossing(way, packet.bytes);
  free_[way] = begins + takes;
  const Duration latency = packet.at == 0 ? network_.wire.latency : Duration{};
  packet.head = begins;
  packet.tail = std::max(packet.tail, begins + takes);
  if (packet.at == 0 && packet.is_payload) {
    if (ranks_[index(packet.from)].behind != nullptr) schedule(begins, What::comes_from_memory, number);
    schedule(packet.tail, What::has_left, number);
  }
  packet.tail += latency;
  if (++packet.at < packet.ways.size()) return schedule(begins + latency, What::comes_to_way, number);
  if (packet.is_payload && ranks_[index(packet.to)].behind != nullptr)
    schedule(begins, What::comes_to_memory, number);
  schedule(packet.tail, packet.is_payload ? What::is_through : What::is_there, number);
}

/// Its head is at the interface.
void Fabric::cross_behind(Number number, bool out) {
  Packet& packet = packets_[number];
  Rank& rank = ranks_[index(out ? packet.from : packet.to)];
  const void* place = packet.place;
  if (!out) {
    const auto found = rank.expected.find({packet.from, packet.tag});
    if (found == rank.expected.end()) return;  // dropped
    place = found->second.place;
  }
  if (rank.behind == nullptr || packet.dropped) return;
  const bool crosses = rank.behind->cross(place, packet.bytes, out, packet.tag, [this, number, out] {
    if (out) has_left(number);
    is_through(number);
  });
  if (!crosses) return;
  ++packet.to_arrive;
  packet.to_leave += out;
}

/// One of its crossings is over; after the last it is there.
void Fabric::is_through(Number number) {
  if (--packets_[number].to_arrive == 0) is_there(number);
}

void Fabric::is_there(Number number) {
  const auto to = static_cast<std::uint32_t>(packets_[number].to);
  if (all_compute(to)) return ranks_[to].unheard.push_back(number);
  hear(number);
}

/// All of it is there. What could be copied while it came has been.
void Fabric::hear(Number number) {
  const Packet& packet = packets_[number];
  Rank& rank = ranks_[index(packet.to)];
  const Duration bytes_take = copying(packet.bytes);
  const Time begins = std::max(rank.thread_free, packet.head);
  rank.thread_free = std::max(begins + bytes_take, turns_.timeline().now()) + network_.per_message;
  rank.crossed.speaking += network_.per_message + bytes_take;
  schedule(rank.thread_free, What::is_heard, number);
}

void Fabric::has_left(Number number) {
  Packet& packet = packets_[number];
  if (--packet.to_leave != 0 || packet.dropped) return;
  Rank& sender = ranks_[index(packet.from)];
  sender.sending.erase(packet.id);
  if (sender.listener != nullptr) sender.listener->left(packet.id);
}

void Fabric::between_tasks(std::uint32_t of) {
  Rank& rank = ranks_[of];
  if (!network_.heard_between_tasks) return;
  rank.thread_free =
      std::max(rank.thread_free, turns_.timeline().now() + std::exchange(rank.owed, Duration{}));
  for (const Number number : rank.unheard) hear(number);
  rank.unheard.clear();
}

void Fabric::is_heard(Number number) {
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
    if (found == rank.expected.end()) return;  // dropped
    const net::PayloadId expected = found->second.id;
    rank.expected.erase(found);
    awaited_(static_cast<std::uint32_t>(packet.to), false);
    rank.listener->landed(expected);
  }
  turns_.look_at(index(packet.to));
}

bool Fabric::step() {
  if (future_.empty()) return false;
  const Happening happening = future_.top();
  future_.pop();
  turns_.timeline().reaches(happening.at);
  switch (happening.what) {
    case What::comes_to_way:
      comes_to_way(happening.which);
      break;
    case What::comes_from_memory:
    case What::comes_to_memory:
      cross_behind(happening.which, happening.what == What::comes_from_memory);
      break;
    case What::is_through:
      is_through(happening.which);
      break;
    case What::has_left:
      has_left(happening.which);
      break;
    case What::is_there:
      is_there(happening.which);
      break;
    case What::is_heard:
      is_heard(happening.which);
      break;
    case What::poked:
      if (net::Network::Listener* const listener = ranks_[happening.which].listener) listener->poked();
      break;
  }
  return true;
}

}  // namespace fairlead::simulate
