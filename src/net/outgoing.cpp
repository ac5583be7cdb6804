// See outgoing.hpp.
#include "net/outgoing.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace fairlead::net {

OutgoingId Outgoing::add(const ValueName& name, std::uint64_t value, const Sizes& sizes, std::size_t owed,
                         bool read_now, EndpointCommands& out) {
  const OutgoingId id{next_value_++};
  Value& it = values_[id];
  it.name = name;
  it.value = value;
  it.sizes = sizes;
  it.owed = owed;
  ensure(by_name_.emplace(name, id).second, "a value is announced once");
  if (read_now) {
    it.for_messages = it.unannounced = true;
    want(id, out);
  }
  return id;
}

void Outgoing::requested(const ValueName& name, RankId by, std::uint64_t tag, NetworkTraffic& traffic,
                         EndpointCommands& out) {
  const OutgoingId id = by_name_.at(name);
  Value& it = values_.at(id);
  std::erase(it.offered_to, by);  // the rank could not read the offer
  it.requests.push_back({by, tag});
  if (it.state == State::announced) want(id, out);
  if (it.state != State::readable && !mistake_.is(ProtocolMistake::answered_unread)) return;
  to_send_.push_back(id);
  send(traffic, out);
}

// ---- offers

bool Outgoing::can_offer(Bytes bytes, RankId to) const noexcept {
  if (protocol_.offered_from == 0 || bytes < protocol_.offered_from || bytes <= protocol_.eager_bytes)
    return false;  // it is small, or eager
  if (index(to) >= protocol_.read_by.size() || !protocol_.read_by[index(to)]) return false;
  return offered_ + room_.taken_by(bytes) <= room_.offered ||
         mistake_.is(ProtocolMistake::offers_not_counted);
}

void Outgoing::offer(OutgoingId id, std::vector<RankId> to, EndpointCommands& out) {
  Value& it = values_.at(id);
  ensure(it.state == State::announced, "a value is offered after it is announced");
  it.offered_to = std::move(to);
  it.is_offered = true;
  it.state = State::reading;
  offered_ += room_.taken_by(it.sizes.takes);
  ++unsaid_offers_;
  out.reads.push_back({id, it.name, it.value});
}

void Outgoing::taken(const ValueName& name, RankId by, NetworkTraffic& traffic, EndpointCommands& out) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  const OutgoingId id = found->second;
  Value& it = values_.at(id);
  if (std::erase(it.offered_to, by) == 0) return;
  if (it.owed != 0) --it.owed;
  ++traffic.reads;
  traffic.read_bytes += it.sizes.bytes;
  settle(id, out);
}

std::uint64_t* Outgoing::new_mark() {
  if (unused_marks_.empty()) return &marks_.emplace_back();
  std::uint64_t* const mark = unused_marks_.back();
  unused_marks_.pop_back();
  return mark;
}

/// The value may be released now: a reader will find that the mark has changed.
void Outgoing::stop_reading(Value& value) {
  if (!std::exchange(value.is_offered, false)) {
    read_ -= room_.taken_by(value.sizes.takes);
    return;
  }
  offered_ -= room_.taken_by(value.sizes.takes);
  if (value.mark == nullptr) {
    --unsaid_offers_;
    return;
  }
  if (!mistake_.is(ProtocolMistake::offer_not_kept)) set_mark(*value.mark, 0);
  unused_marks_.push_back(std::exchange(value.mark, nullptr));
}

// ---- requests

void Outgoing::want(OutgoingId id, EndpointCommands& out) {
  values_.at(id).state = State::requested;
  to_read_.push_back(id);
  read_more(out);
}

/// In the order of the requests.
void Outgoing::read_more(EndpointCommands& out) {
  // More may be offered than is allowed now, if the limit was larger before.
  const Bytes offered = std::max(room_.offered, offered_);
  const Bytes room = room_.in_transit > offered ? room_.in_transit - offered : 0;
  while (!to_read_.empty()) {
    const auto found = values_.find(to_read_.front());
    if (found != values_.end()) {
      const Bytes taken = room_.taken_by(found->second.sizes.takes);
      if (read_ != 0 && read_ + taken > room) return;
      read_ += taken;
      found->second.state = State::reading;
      out.reads.push_back({found->first, found->second.name, found->second.value});
    }
    to_read_.pop_front();
  }
}

bool Outgoing::readable(OutgoingId id, const void* address, NetworkTraffic& traffic, EndpointCommands& out) {
  const auto found = values_.find(id);
  if (found == values_.end()) return false;  // its run has ended
  Value& it = found->second;
  ensure(it.state == State::reading, "a value that becomes readable was requested");
  it.state = State::readable;
  it.address = address;
  if (it.is_offered) {
    --unsaid_offers_;
    it.mark = new_mark();
    set_mark(*it.mark, next_mark_++);
    for (const RankId rank : it.offered_to)
      out.messages.push_back({rank, bytes_of(Offer{it.name, reinterpret_cast<std::uintptr_t>(address),
                                                   reinterpret_cast<std::uintptr_t>(it.mark), *it.mark})});
    traffic.offers += it.offered_to.size();
  }
  for (std::size_t i = 0; i < it.requests.size(); ++i) to_send_.push_back(id);
  send(traffic, out);
  if (mistake_.is(ProtocolMistake::offer_not_kept)) settle(id, out);
  return true;
}

/// Sends as many payloads as may be in flight.
void Outgoing::send(NetworkTraffic& traffic, EndpointCommands& out) {
  while (!to_send_.empty() && sending_.size() < protocol_.most_payloads) {
    const OutgoingId id = to_send_.front();
    to_send_.pop_front();
    const auto found = values_.find(id);
    if (found == values_.end() || found->second.requests.empty()) continue;
    Value& it = found->second;
    const PendingRequest wish = it.requests.back();
    it.requests.pop_back();
    ++it.sending;
    const PayloadId payload{next_payload_};
    next_payload_ += 2;
    sending_.emplace(payload, id);
    out.payloads.push_back({payload, wish.by, wish.tag, it.address, it.sizes.bytes, it.sizes.layout});
    ++traffic.payloads;
    traffic.payload_bytes += it.sizes.bytes;
    if (mistake_.is(ProtocolMistake::left_too_early)) it.owed = 1;
  }
}

void Outgoing::left(PayloadId payload, NetworkTraffic& traffic, EndpointCommands& out) {
  const auto found = sending_.find(payload);
  ensure(found != sending_.end(), "a payload that has left was sent");
  const OutgoingId id = found->second;
  sending_.erase(found);
  if (const auto it = values_.find(id); it != values_.end()) {
    --it->second.sending;
    if (it->second.owed != 0) --it->second.owed;
    settle(id, out);
  }
  read_more(out);
  send(traffic, out);
}

void Outgoing::read_for_messages(OutgoingId id, EndpointCommands& out) {
  values_.at(id).for_messages = false;
  settle(id, out);
  read_more(out);
}

void Outgoing::announced(OutgoingId id, EndpointCommands& out) {
  values_.at(id).unannounced = false;
  settle(id, out);
}

/// Releases the value if it need not be readable any more, and deletes it if all receivers have it.
void Outgoing::settle(OutgoingId id, EndpointCommands& out) {
  Value& it = values_.at(id);
  if (it.for_messages) return;
  const bool idle = it.sending == 0 && it.requests.empty() &&
                    (it.offered_to.empty() || mistake_.is(ProtocolMistake::offer_not_kept));
  if (it.state == State::readable && idle) {
    it.state = State::announced;
    it.address = nullptr;
    stop_reading(it);
    out.reads.push_back({id, it.name, it.value, true});
  }
  if (it.unannounced || it.owed != 0 || (!idle && !mistake_.is(ProtocolMistake::left_too_early))) return;
  if (!mistake_.is(ProtocolMistake::left_never)) out.left.push_back({id, it.name, it.value});
  by_name_.erase(it.name);
  values_.erase(id);
}

void Outgoing::forget(const GraphRun& run, EndpointCommands& out) {
  for (auto it = values_.begin(); it != values_.end();) {
    if (it->second.name.of != run) {
      ++it;
      continue;
    }
    if (it->second.state == State::reading || it->second.state == State::readable) {
      stop_reading(it->second);
      out.reads.push_back({it->first, it->second.name, it->second.value, true});
    }
    out.left.push_back({it->first, it->second.name, it->second.value});
    for (auto payload = sending_.begin(); payload != sending_.end();) {
      if (payload->second == it->first) {
        out.dropped.push_back(payload->first);
        payload = sending_.erase(payload);
      } else {
        ++payload;
      }
    }
    by_name_.erase(it->second.name);
    it = values_.erase(it);
  }
  read_more(out);
}

}  // namespace fairlead::net
