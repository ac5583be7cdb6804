// Transfers of values between ranks. See value_traffic.hpp.
#include "front/ranks/value_traffic.hpp"

#include <fmt/format.h>

#include <utility>

namespace fairlead::front {

ValueTraffic::ValueTraffic(engine::RuntimeCore& core, net::Communicator& communicator, Cause cause,
                           Hooks hooks)
    : core_(core),
      communicator_(communicator),
      cause_(cause),
      hooks_(std::move(hooks)),
      forwards_(cause == Cause::flows && communicator.protocol().tree_from != 0),
      // A refused turn belongs to a datum without a value: its task has failed and reports that itself.
      turns_(
          core, TaskRole::sequence_point,
          [this](std::uint64_t name, const net::ValueMemory&) { turn_granted(name); },
          [this](const std::string& why) { communicator_.report_failure_async(why); }),
      holds_(
          core, TaskRole::remote_access,
          [this](std::uint64_t name, const net::ValueMemory& spot) { hold_granted(name, spot); },
          [this](const std::string& why) { communicator_.report_failure_async(why); }),
      run_{communicator.next_graph(), 0} {}

void ValueTraffic::begin(std::uint64_t fingerprint, const net::TransitLimits& room) {
  // A receiver queues the turn for forwarding in advance, so all ranks must agree on whether values are forwarded. The
  // fingerprint therefore depends on it.
  communicator_.begin(run_, forwards_ ? ~fingerprint : fingerprint, room, *this, true);
}

std::uint64_t ValueTraffic::begin_turn(engine::RegisteredDatum& from, Bytes bytes) {
  const std::uint64_t turn = next_ + 1;
  next_ += 2;
  const std::lock_guard guard(mutex_);
  at_sources_[turn] = {.from = {.id = from.id}, .bytes = bytes};
  return turn;
}

std::uint64_t ValueTraffic::send(std::uint64_t joined, std::uint64_t name, engine::RegisteredDatum& from,
                                 Bytes bytes, net::RankId to) {
  {
    const std::lock_guard guard(mutex_);
    if (const auto found = sendings_.find(joined); found != sendings_.end()) {
      found->second.to.push_back(to);
      if (at_sources_.at(found->second.turn).granted) tell(found->first, found->second);
      return joined;
    }
  }
  const std::uint64_t turn = begin_turn(from, bytes);
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    number = new_sending();
    begin_sending(number, turn, {.turn = turn, .name = name, .to = {to}});
  }
  turns_.request_turn(turn, from, AccessMode::read);
  return number;
}

std::uint64_t ValueTraffic::take_turn(engine::RegisteredDatum& from, Bytes bytes) {
  {
    const std::lock_guard guard(mutex_);
    if (const auto last = last_turns_.find(from.id); last != last_turns_.end()) {
      // A turn that is not finished owns its epoch. If that is still the datum's last epoch, nothing has written since.
      Turn& turn = at_sources_.at(last->second);
      if (turn.epoch == from.tail.last) {
        ++turn.users;
        return last->second;
      }
    }
  }
  const std::uint64_t number = begin_turn(from, bytes);
  turns_.request_turn(number, from, AccessMode::read);
  const std::lock_guard guard(mutex_);
  if (const auto found = at_sources_.find(number); found != at_sources_.end()) {
    found->second.epoch = from.tail.last;
    last_turns_[from.id] = number;
  }
  return number;
}

void ValueTraffic::send(std::uint64_t turn, std::uint64_t name, net::RankId to, std::uint32_t apart,
                        Owner owner) {
  const std::lock_guard guard(mutex_);
  begin_sending(new_sending(), turn,
                {.turn = turn, .name = name, .apart = apart, .to = {to}, .owner = std::move(owner)});
}

/// Requires the mutex.
std::uint64_t ValueTraffic::new_sending() noexcept { return std::exchange(next_sending_, next_sending_ + 2); }

/// Requires the mutex.
void ValueTraffic::begin_sending(std::uint64_t number, std::uint64_t turn, Sending sending) {
  const auto found = at_sources_.find(turn);
  if (found == at_sources_.end()) return;  // abandoned
  Sending& it = sendings_[number] = std::move(sending);
  found->second.granted ? tell(number, it) : found->second.waiting.push_back(number);
}

void ValueTraffic::receive(std::uint64_t name, engine::RegisteredDatum& into, Bytes bytes, Owner owner) {
  const std::uint64_t number = next_;
  next_ += 2;
  {
    const std::lock_guard guard(mutex_);
    coming_[number] = {
        .into = {.id = into.id}, .bytes = bytes, .key = name, .what = into.text(), .owner = std::move(owner)};
    by_key_[name] = number;
  }
  turns_.request_turn(number, into, AccessMode::write);
  if (forwards_) turns_.request_turn(forwarding_turn(number), into, AccessMode::read);
}

bool ValueTraffic::none() const { return turns_.none() && holds_.none(); }

bool ValueTraffic::any_of(DatumId datum) const { return turns_.any_of(datum) || holds_.any_of(datum); }

void ValueTraffic::end() {
  communicator_.end(run_);
  ++run_.run;
  // Entries remain only after a failure. Allocates nothing: memory may be exhausted.
  decltype(coming_) coming;
  decltype(passing_) passing;
  decltype(at_sources_) at_sources;
  {
    const std::lock_guard guard(mutex_);
    coming.swap(coming_);
    passing.swap(passing_);
    at_sources.swap(at_sources_);
    by_key_.clear();
    sendings_.clear();
    last_turns_.clear();
  }
  for (const auto& [number, it] : coming) {
    holds_.release(number, true);  // for sent values, the network releases the holds
    let_go_of_turns(number);
  }
  for (const std::uint64_t turn : passing) turns_.release(turn, true);
  for (const auto& [turn, it] : at_sources) turns_.release(turn, true);
  const std::lock_guard guard(mutex_);
  passing_.clear();  // turns granted in the meantime
}

std::vector<std::uint64_t> ValueTraffic::unfinished() const {
  std::vector<std::uint64_t> numbers;
  const std::lock_guard guard(mutex_);
  for (const auto& [number, turn] : at_sources_) numbers.push_back(number);
  for (const auto& [number, coming] : coming_) numbers.push_back(number);
  numbers.insert(numbers.end(), passing_.begin(), passing_.end());
  return numbers;
}

void ValueTraffic::abandon() {
  // First: turns that are not granted now never will be.
  core_.engine().cancel(turns_);
  for (const std::uint64_t number : unfinished()) let_go_of_turns(number);
}

void ValueTraffic::let_go_of_turns(std::uint64_t number) {
  turns_.release(number, true);
  if (number % 2 == 0) turns_.release(forwarding_turn(number), true);
}

/// Announces the value to all receivers found so far in one message, in the order in which they need it: in a broadcast
/// tree, a forwarding rank needs it no later than the ranks that it forwards to. Requires the mutex.
void ValueTraffic::tell(std::uint64_t number, Sending& sending) {
  if (sending.to.empty()) return;
  const std::uint32_t time = sending.apart + sending.announcements++;
  net::Endpoint::Output output{.number = static_cast<std::uint8_t>(time % net::most_outputs),
                               .value = number,
                               .bytes = at_sources_.at(sending.turn).bytes,
                               .to = std::exchange(sending.to, {})};
  communicator_.task_finished(run_, sending.name << 8 | (time / net::most_outputs & 0xff),
                              {std::move(output)});
}

void ValueTraffic::turn_granted(std::uint64_t name) {
  std::unique_lock guard(mutex_);
  if (const auto source = at_sources_.find(name); source != at_sources_.end()) {
    source->second.granted = true;
    for (const std::uint64_t number : std::exchange(source->second.waiting, {}))
      tell(number, sendings_.at(number));
  } else if (const auto coming = coming_.find(name); coming != coming_.end()) {
    communicator_.expect(run_, coming->second.key);
  } else if (name % 2 == 1) {
    guard.unlock();
    end_passing(name - 1);
  }
}

void ValueTraffic::hold_granted(std::uint64_t name, const net::ValueMemory& spot) {
  if (name % 2 == 1) return communicator_.readable(net::OutgoingId{name / 2}, spot.address);
  net::IncomingId id{};
  {
    const std::lock_guard guard(mutex_);
    const auto found = coming_.find(name);
    if (found == coming_.end()) return;
    id = found->second.id;
  }
  communicator_.placed(id, name, spot);
}

// ---- requests of the network

void ValueTraffic::allocate_place(const net::EndpointCommands::Place& place) {
  NetworkAccesses::Datum into;
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_key_.find(net::Gate::key_of(place.name.task));
    if (found == by_key_.end()) return;  // abandoned
    number = found->second;
    IncomingValue& coming = coming_.at(number);
    if (coming.bytes != place.bytes)
      return communicator_.report_failure_async(
          fmt::format("a value of {} bytes arrived for {}, which has {}: it differs between the ranks",
                      place.bytes, coming.what, coming.bytes));
    coming.id = place.id;
    into = coming.into;
  }
  holds_.request_hold(number, into, AccessMode::write);
}

void ValueTraffic::read(const net::EndpointCommands::Read& read) {
  if (read.release) return holds_.release(name_of(read.id));
  NetworkAccesses::Datum from;
  {
    const std::lock_guard guard(mutex_);
    if (const auto coming = coming_.find(read.value); coming != coming_.end()) {
      from = coming->second.into;
    } else if (const auto going = sendings_.find(read.value); going != sendings_.end()) {
      from = at_sources_.at(going->second.turn).from;
    } else {
      return;
    }
  }
  holds_.request_hold(name_of(read.id), from, AccessMode::read);
}

void ValueTraffic::expected(std::uint64_t key, bool announced) {
  if (!hooks_.expected) return;
  Bytes bytes = 0;
  {
    const std::lock_guard guard(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;  // abandoned
    bytes = coming_.at(found->second).bytes;
  }
  hooks_.expected(key, bytes, announced);
}

void ValueTraffic::arrived(const net::EndpointCommands::Arrived& landed) {
  Owner owner;
  const bool is_over = landed.passed_on == net::no_outgoing;
  {
    const std::lock_guard guard(mutex_);
    const auto found = coming_.find(landed.value);
    if (found == coming_.end()) return;
    by_key_.erase(found->second.key);
    owner = std::move(found->second.owner);
    if (is_over) coming_.erase(found);
  }
  // The engine is notified of the value before it is notified of a task that uses it.
  holds_.release(landed.value);
  turns_.release(landed.value);
  if (is_over) end_passing(landed.value);
  if (hooks_.over) hooks_.over(owner);
}

void ValueTraffic::passed_on(std::uint64_t number) {
  {
    const std::lock_guard guard(mutex_);
    if (coming_.erase(number) == 0) return;
  }
  end_passing(number);
}

/// Releases the turn for forwarding when it is granted and forwarding is complete. Called once for each; the second
/// call releases it.
void ValueTraffic::end_passing(std::uint64_t number) {
  if (!forwards_) return;
  {
    const std::lock_guard guard(mutex_);
    if (passing_.insert(forwarding_turn(number)).second) return;
    passing_.erase(forwarding_turn(number));
  }
  turns_.release(forwarding_turn(number));
}

void ValueTraffic::sent(const net::EndpointCommands::Sent& left) {
  if (left.value % 2 == 0) return passed_on(left.value);
  Owner owner;
  std::uint64_t turn_over = 0;
  {
    const std::lock_guard guard(mutex_);
    const auto found = sendings_.find(left.value);
    if (found == sendings_.end()) return;
    Sending& sending = found->second;
    if (++sending.left != sending.announcements || !sending.to.empty()) return;
    owner = std::move(sending.owner);
    const auto turn = at_sources_.find(sending.turn);
    sendings_.erase(found);
    if (--turn->second.users == 0) {
      turn_over = turn->first;
      if (const auto last = last_turns_.find(turn->second.from.id);
          last != last_turns_.end() && last->second == turn_over)
        last_turns_.erase(last);
      at_sources_.erase(turn);
    }
  }
  if (turn_over != 0) turns_.release(turn_over);
  if (hooks_.over) hooks_.over(owner);
}

}  // namespace fairlead::front
