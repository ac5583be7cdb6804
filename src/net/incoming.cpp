// See incoming.hpp.
#include "net/incoming.hpp"

#include <utility>

#include "base/check.hpp"

namespace fairlead::net {

void Incoming::announced(RankId from, Activate activate, EndpointCommands& out) {
  const std::uint64_t number = next_arrival_++;
  Arrival& it = arrivals_[number];
  it.from = from;
  it.activate = std::move(activate);
  it.outputs.resize(it.activate.outputs.size());
  it.unplaced = it.missing = it.outputs.size();
  for (const Activate::Output& output : it.activate.outputs) it.bytes += room_.taken_by(output.memory_bytes);
  waiting_.push_back(number);
  look_for_places(out);
}

/// False for the only value in transit, whatever its size.
bool Incoming::is_full_for(const Arrival& arrival) const noexcept {
  if (visitors_ == 0) return false;
  return (visitors_ + arrival.outputs.size() > most_visitors_ &&
          !mistake_.is(ProtocolMistake::any_number_of_visitors)) ||
         (visitors_take_ + arrival.bytes > room_.in_transit &&
          !mistake_.is(ProtocolMistake::visitors_not_counted));
}
void Incoming::gone(const Activate::Output& visitor) noexcept {
  --visitors_;
  visitors_take_ -= room_.taken_by(visitor.memory_bytes);
}

/// In the order of the announcements. All values of a task at once: if two tasks each had one place and waited for
/// the other's, neither would complete.
void Incoming::look_for_places(EndpointCommands& out) {
  while (!waiting_.empty()) {
    const auto found = arrivals_.find(waiting_.front());
    if (found == arrivals_.end()) {  // its run has ended
      waiting_.pop_front();
      continue;
    }
    Arrival& it = found->second;
    if (is_full_for(it)) return;
    visitors_ += it.outputs.size();
    visitors_take_ += it.bytes;
    it.state = State::placing;
    for (std::size_t i = 0; i < it.outputs.size(); ++i)
      out.places.push_back({id_of(waiting_.front(), i), it.activate.name(i),
                            it.activate.outputs[i].datum_type, it.activate.outputs[i].bytes, it.from});
    waiting_.pop_front();
  }
}

void Incoming::placed(IncomingId id, std::uint64_t value, const ValueMemory& spot,
                      std::vector<Arrived>& there, NetworkTraffic& traffic, EndpointCommands& out) {
  const auto found = arrivals_.find(arrival_of(id));
  if (found == arrivals_.end()) return;  // its run has ended
  Arrival& it = found->second;
  const std::size_t at = output_of(id);
  Output& output = it.outputs[at];
  ensure(it.state == State::placing && !output.placed, "a place was requested");
  output.placed = true;
  output.value = value;
  output.spot = spot;
  --it.unplaced;
  if (it.unplaced == 0) ask(found->first, traffic, out);
  if (auto& along = it.activate.outputs[at].value; !along.empty()) {
    const Bytes bytes = along.size();
    out.fills.push_back({spot.address, std::move(along), spot.layout, spot.memory});
    is_there(found->first, at, bytes, there, traffic);
  } else if (mistake_.is(ProtocolMistake::arrived_too_early)) {
    is_there(found->first, at, 0, there, traffic);
  }
  look_for_places(out);
}

void Incoming::ask(std::uint64_t number, NetworkTraffic& traffic, EndpointCommands& out) {
  Arrival& it = arrivals_.at(number);
  it.state = State::asked;
  Request request{it.activate.of, it.activate.task, next_tag_, 0};
  for (std::size_t i = 0; i < it.outputs.size(); ++i) {
    const Activate::Output& output = it.activate.outputs[i];
    if (!output.value.empty() || it.outputs[i].there) continue;
    if (!output.offered) {
      expect(request, number, i, out);
      continue;
    }
    const auto offer = offers_.find(it.activate.name(i));
    if (offer == offers_.end()) {
      unoffered_.emplace(it.activate.name(i), id_of(number, i));
      continue;
    }
    if (it.outputs[i].spot.memory != nullptr)
      // device memory: cores cannot copy there, so the network transfers it
      expect(request, number, i, out);
    else
      copy(id_of(number, i), offer->second, out);
    offers_.erase(offer);
  }
  if (request.outputs == 0) return;
  out.messages.push_back({it.from, bytes_of(request)});
  ++traffic.requests;
}

void Incoming::expect(Request& request, std::uint64_t number, std::size_t i, EndpointCommands& out) {
  const Arrival& it = arrivals_.at(number);
  const Activate::Output& output = it.activate.outputs[i];
  request.outputs |= std::uint64_t{1} << output.number;
  const PayloadId payload{next_payload_};
  next_payload_ += 2;
  const std::size_t landing =
      mistake_.is(ProtocolMistake::other_output_arrived) ? it.outputs.size() - 1 - i : i;
  expected_.emplace(payload, id_of(number, landing));
  const ValueMemory& spot = it.outputs[i].spot;
  out.expected.push_back({payload, it.from, next_tag_, spot.address, output.bytes, spot.layout, spot.memory});
  if (!mistake_.is(ProtocolMistake::tag_used_again)) ++next_tag_;
}

// ---- offered values

void Incoming::offered(RankId from, const Offer& offer, NetworkTraffic& traffic, EndpointCommands& out) {
  const auto found = unoffered_.find(offer.name);
  if (found == unoffered_.end()) {
    if (!mistake_.is(ProtocolMistake::early_offer_lost)) offers_.emplace(offer.name, offer);
    return;
  }
  ensure(arrivals_.at(arrival_of(found->second)).from == from,
         "the rank that offers a value has announced it");
  const IncomingId id = found->second;
  if (arrivals_.at(arrival_of(id)).outputs[output_of(id)].spot.memory != nullptr)
    ask_for(id, traffic, out);
  else
    copy(id, offer, out);
  unoffered_.erase(found);
}

/// Requests one value of a task, as a payload.
void Incoming::ask_for(IncomingId id, NetworkTraffic& traffic, EndpointCommands& out) {
  const Arrival& it = arrivals_.at(arrival_of(id));
  Request request{it.activate.of, it.activate.task, next_tag_, 0};
  expect(request, arrival_of(id), output_of(id), out);
  out.messages.push_back({it.from, bytes_of(request)});
  ++traffic.requests;
}

void Incoming::copy(IncomingId id, const Offer& offer, EndpointCommands& out) {
  const Arrival& it = arrivals_.at(arrival_of(id));
  const PayloadId payload{next_payload_};
  next_payload_ += 2;
  copying_.emplace(payload, id);
  out.copies.push_back({payload, it.from, offer.address, it.outputs[output_of(id)].spot.address,
                        it.activate.outputs[output_of(id)].bytes, offer.mark_at, offer.mark});
}

void Incoming::copied(PayloadId payload, bool good, std::vector<Arrived>& there, NetworkTraffic& traffic,
                      EndpointCommands& out) {
  const auto found = copying_.find(payload);
  ensure(found != copying_.end(), "a copied value was offered");
  const std::uint64_t number = arrival_of(found->second);
  const std::size_t output = output_of(found->second);
  copying_.erase(found);
  const Arrival& it = arrivals_.at(number);
  if (!good && !mistake_.is(ProtocolMistake::failed_read_accepted))
    return ask_for(id_of(number, output), traffic, out);
  if (!mistake_.is(ProtocolMistake::read_not_acknowledged)) {
    out.messages.push_back({it.from, bytes_of(ReadAcknowledged{it.activate.name(output)})});
    ++traffic.takings;
  }
  is_there(number, output, 0, there, traffic);
  look_for_places(out);
}

// ---- arrivals

void Incoming::landed(PayloadId payload, std::vector<Arrived>& there, NetworkTraffic& traffic,
                      EndpointCommands& out) {
  const auto found = expected_.find(payload);
  ensure(found != expected_.end(), "an arrived payload was requested");
  const IncomingId id = found->second;
  expected_.erase(found);
  if (mistake_.is(ProtocolMistake::arrived_twice) && arrivals_.at(arrival_of(id)).missing > 1)
    is_there(arrival_of(id), output_of(id), 0, there, traffic);
  if (arrivals_.contains(arrival_of(id))) is_there(arrival_of(id), output_of(id), 0, there, traffic);
  look_for_places(out);
}

void Incoming::is_there(std::uint64_t number, std::size_t output, Bytes went_along,
                        std::vector<Arrived>& there, NetworkTraffic& traffic) {
  Arrival& it = arrivals_.at(number);
  Activate::Output& announced = it.activate.outputs[output];
  it.outputs[output].there = true;
  if (it.outputs[output].spot.memory != nullptr) {
    ++traffic.into_devices;
    traffic.bytes_into_devices += announced.bytes;
  }
  there.push_back({it.activate.name(output), it.outputs[output].value, announced.datum_type, announced.bytes,
                   announced.memory_bytes, it.outputs[output].spot.layout, std::move(announced.forward_to),
                   it.from, went_along});
  gone(announced);
  if (--it.missing == 0) arrivals_.erase(number);
}

void Incoming::forget(const GraphRun& run, EndpointCommands& out) {
  for (auto it = arrivals_.begin(); it != arrivals_.end();) {
    if (it->second.activate.of != run) {
      ++it;
      continue;
    }
    if (it->second.state != State::announced)
      for (std::size_t i = 0; i < it->second.outputs.size(); ++i)
        if (!it->second.outputs[i].there) gone(it->second.activate.outputs[i]);
    for (auto* const under_way : {&expected_, &copying_})
      std::erase_if(*under_way, [&](const auto& payload) {
        if (arrival_of(payload.second) != it->first) return false;
        out.dropped.push_back(payload.first);
        return true;
      });
    it = arrivals_.erase(it);
  }
  std::erase_if(offers_, [&](const auto& offer) { return offer.first.of == run; });
  std::erase_if(unoffered_, [&](const auto& value) { return value.first.of == run; });
  look_for_places(out);
}

}  // namespace fairlead::net
