// See communicator.hpp.
#include "net/communicator.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "net/direct_reads.hpp"

namespace fairlead::net {

namespace {
constexpr Bytes piece_of_copy = Bytes{1} << 20;
// Reports of idleness follow only after this time: ranks that wait for each other's tasks all the time need none.
constexpr std::chrono::milliseconds idle_report_delay{1};

void notify(Client& client, const std::string& failure) noexcept {
  try {
    client.failed(failure);
  } catch (...) {
    client.out_of_memory();
  }
}
void tell_each(const std::map<GraphRun, Client*>& clients, const std::string& failure) noexcept {
  for (const auto& entry : clients) notify(*entry.second, failure);
}
Client* client_of(const std::map<GraphRun, Client*>& clients, const GraphRun& run) {
  const auto found = clients.find(run);
  return found == clients.end() ? nullptr : found->second;
}
/// Calls f() at the end of the scope, also after an exception.
template <class F>
class Finally {
 public:
  explicit Finally(F f) : f_(std::move(f)) {}
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  ~Finally() { f_(); }

 private:
  F f_;
};
}  // namespace

Communicator::Communicator(std::shared_ptr<Network> network, const Protocol& protocol)
    : network_(std::move(network)),
      endpoint_(network_->own(), network_->ranks(), protocol),
      protocol_(protocol) {
  network_->begin(*this);
  if (!protocol_.exchanges_credit) return;
  post_and_wait([this](Endpoint&, EndpointCommands& out) {
    for (std::uint32_t i = 0; i < ranks(); ++i)
      if (RankId{i} != own())
        out.messages.push_back({RankId{i}, bytes_of(Allowance{protocol_.credit_bytes})});
  });
}

Communicator::~Communicator() {
  post_and_wait([](Endpoint& endpoint, EndpointCommands& out) { endpoint.close(out); });
  wait_until([this] {
    return !serving_ && events_.empty() && (endpoint_.all_closed() || events_.has_broken_off());
  });
  // After a failure runs may be open, and transfers may still use their memory.
  post_and_wait([this](Endpoint& endpoint, EndpointCommands& out) {
    const auto runs = std::move(clients_);
    clients_.clear();
    if (!events_.has_broken_off())
      for (const auto& [run, client] : runs) endpoint.end(run, out);
    for (const PayloadId payload : out.dropped) network_->drop(payload);
    copies_.clear();
    out.clear();  // no client is notified any more
  });
  network_->set_active(false);  // lets its driving thread sleep, so that it can be ended
  network_->end();
}

/// Waits on the program's thread, which runs no tasks here. The wait cannot be abandoned: the event may still use the
/// caller's variables.
template <class Done>
void Communicator::wait_until(Done done) {
  const auto is_done = [&] {
    const std::lock_guard guard(mutex_);
    return done();
  };
  try {
    network_->help(is_done);
  } catch (const std::exception& error) {
    fail(error.what());
    // The network is not driven any more: the queued events are served here.
    for (; !is_done(); std::this_thread::yield()) poked();
  }
  std::unique_lock lock(mutex_);
  served_.wait(lock, done);
}

/// Called by the program's thread, one event at a time. Returns when the event has been served, even if that
/// threw.
template <class E>
void Communicator::post_and_wait(E&& event) noexcept {
  bool over = false;
  const auto whole = [&, this](Endpoint& endpoint, EndpointCommands& out) {
    const Finally then([&] {
      const std::lock_guard guard(mutex_);
      over = true;
    });
    event(endpoint, out);
  };
  bool serves = false;
  {
    const std::lock_guard guard(mutex_);
    events_.await(std::cref(whole));
    serves = !std::exchange(serving_, true);
  }
  if (serves) serve();
  wait_until([&] { return over; });
}

/// Serves the event at once if no thread is serving and no event is queued.
template <class E>
void Communicator::post(E&& event) {
  bool at_once = false;
  {
    const std::lock_guard guard(mutex_);
    if (!events_.is_open()) [[unlikely]]
      return;
    at_once = !serving_ && events_.empty();
    if (!at_once) events_.add(std::forward<E>(event));
    if (serving_) return;
    serving_ = true;
  }
  if (at_once) serve_one(event);
  serve();
}

template <class E>
void Communicator::serve_one(E&& event) noexcept {
  try {
    try {
      event(endpoint_, commands_);
      carry_out(commands_);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // the network has failed: no rank can continue
      commands_.clear();
      endpoint_.fail(error.what(), commands_);
      bool no_memory = false;
      for (EndpointCommands::Message& message : commands_.messages) try {
          network_->send(std::move(message));
        } catch (const std::bad_alloc&) {
          no_memory = true;
        } catch (...) {
          // Other ranks may still be notified although this send failed.
        }
      tell_each(clients_, endpoint_.failure());
      if (no_memory) note_out_of_memory();
    }
  } catch (...) {
    note_out_of_memory();
  }
  commands_.clear();
}

/// An event was lost: the state of this rank is inconsistent from now on.
void Communicator::note_out_of_memory() noexcept {
  const std::lock_guard guard(mutex_);
  events_.abandon();
}

void Communicator::out_of_memory() noexcept {
  note_out_of_memory();
  poked();
}

void Communicator::poked() {
  {
    const std::lock_guard guard(mutex_);
    if (serving_) return;
    serving_ = true;
  }
  serve();
}

void Communicator::watch_by(ValueObserver& watch) {
  post([this, &watch](Endpoint&, EndpointCommands&) { watch_ = &watch; });
}

void Communicator::serve() noexcept {
  std::unique_lock lock(mutex_);
  using Next = PendingEvents::Next;
  Event event;
  for (Next next = events_.next(event); next != Next::nothing; next = events_.next(event)) {
    lock.unlock();
    if (next == Next::event) {
      serve_one(event);
      event = nullptr;
    } else {
      copies_.clear();
      network_->abort_out_of_memory();
      for (const auto& entry : clients_) entry.second->out_of_memory();
    }
    lock.lock();
  }
  serving_ = false;
  traffic_ = endpoint_.traffic();
  recently_active_.store(true, std::memory_order_relaxed);
  served_.notify_all();
  const auto callback = on_quiescent_;
  lock.unlock();
  if (callback != nullptr) (*callback)();
}

/// Copies one chunk, so that other events wait no longer than that.
void Communicator::copy_piece(Endpoint& endpoint, EndpointCommands& out) {
  if (copies_.empty()) return;  // the copy was dropped
  EndpointCommands::Copy copy = copies_.front();
  copies_.pop_front();
  const Bytes bytes = std::min(copy.bytes, piece_of_copy);
  const bool good =
      network_->direct_reads() != nullptr && network_->direct_reads()->read({.from = copy.from,
                                                                             .address = copy.address,
                                                                             .place = copy.place,
                                                                             .bytes = bytes,
                                                                             .mark_at = copy.mark_at,
                                                                             .mark = copy.mark});
  if (!good || bytes == copy.bytes) return endpoint.copied(copy.id, good, out);
  copy.address += bytes;
  copy.place = static_cast<std::byte*>(copy.place) + bytes;
  copy.bytes -= bytes;
  copies_.push_front(copy);
  post_soon([this](Endpoint& of, EndpointCommands& more) { copy_piece(of, more); });
}

void Communicator::carry_out(EndpointCommands& commands) {
  // A failed write to a device ends the run on all ranks, as a failed task does.
  const auto into_device = [this](const auto& receive) {
    try {
      receive();
    } catch (const SystemError& error) {
      report_failure_async(error.what());
    }
  };
  // First stop the transfers whose memory is released.
  for (const PayloadId payload : commands.dropped) {
    network_->drop(payload);
    std::erase_if(copies_, [&](const EndpointCommands::Copy& copy) { return copy.id == payload; });
  }
  for (const EndpointCommands::PostedReceive& expected : commands.expected)
    if (expected.memory == nullptr)
      network_->expect(expected);
    else
      into_device([&] { network_->expect(expected); });
  for (const EndpointCommands::Fill& fill : commands.fills)
    if (fill.memory == nullptr)
      fill.layout.scatter(fill.bytes.data(), fill.place, fill.bytes.size());
    else  // false: the device is lost, and the value with it, as the engine is notified
      into_device([&] { fill.memory->write(fill.place, fill.bytes.data(), fill.bytes.size()); });
  for (EndpointCommands::Message& message : commands.messages) network_->send(std::move(message));
  for (const EndpointCommands::Payload& payload : commands.payloads) network_->send(payload);
  for (const EndpointCommands::Copy& copy : commands.copies) {
    copies_.push_back(copy);
    post_soon([this](Endpoint& endpoint, EndpointCommands& out) { copy_piece(endpoint, out); });
  }
  // Before reads and `left`: the client must keep a value that this rank passes on.
  for (const EndpointCommands::Arrived& landed : commands.landed)
    if (Client* const client = client_of(clients_, landed.name.of)) {
      if (watch_ != nullptr && !landed.control) watch_->arrived(landed.name);
      client->arrived(landed);
    }
  for (const EndpointCommands::Read& read : commands.reads)
    if (Client* const client = client_of(clients_, read.name.of)) {
      if (watch_ != nullptr && !read.release) watch_->requested(read);
      client->read(read);
    }
  for (const EndpointCommands::Sent& left : commands.left)
    if (Client* const client = client_of(clients_, left.name.of)) {
      if (watch_ != nullptr) watch_->delivered(left);
      client->sent(left);
    }
  for (const EndpointCommands::Place& place : commands.places)
    if (Client* const client = client_of(clients_, place.name.of)) {
      if (watch_ != nullptr) watch_->incoming(place, client->cause());
      client->allocate_place(place);
    }
  if (!commands.failure.empty()) tell_each(clients_, commands.failure);
}

void Communicator::begin(const GraphRun& run, std::uint64_t fingerprint, const TransitLimits& room,
                         Client& client, bool gated) {
  post_and_wait([&, this](Endpoint& endpoint, EndpointCommands& out) {
    if (events_.has_broken_off()) return client.out_of_memory();
    try {
      clients_[run] = &client;
    } catch (...) {
      client.out_of_memory();
      throw;
    }
    network_->set_active(true);
    if (const std::string& why = endpoint.failure(); !why.empty()) return notify(client, why);
    endpoint.begin(run, fingerprint, room, out, gated);
  });
}

void Communicator::expect(const GraphRun& run, std::uint64_t key) {
  post_soon([=, this](Endpoint& endpoint, EndpointCommands& out) {
    const bool was_announced = endpoint.expect(run, key, out);
    if (Client* const client = client_of(clients_, run)) client->expected(key, was_announced);
  });
}

void Communicator::end(const GraphRun& run) {
  post_and_wait([&, this](Endpoint& endpoint, EndpointCommands& out) {
    const Finally then([&] {
      clients_.erase(run);
      network_->set_active(!clients_.empty());
    });
    if (events_.has_broken_off()) return;
    try {
      endpoint.end(run, out);
      carry_out(out);
    } catch (const std::bad_alloc&) {
      if (Client* const client = client_of(clients_, run)) client->out_of_memory();
      throw;
    }
    out.clear();
  });
}

void Communicator::post_soon(Event event) {
  {
    const std::lock_guard guard(mutex_);
    if (!events_.is_open()) [[unlikely]]
      return;
    events_.add(std::move(event));
    if (serving_) return;
  }
  network_->poke();
}

void Communicator::task_finished(const GraphRun& run, std::uint64_t task,
                                 std::vector<Endpoint::Output> outputs) {
  post_soon([run, task, outputs = std::move(outputs)](Endpoint& endpoint, EndpointCommands& out) {
    endpoint.task_finished(run, task, outputs, out);
  });
}
void Communicator::placed(IncomingId id, std::uint64_t value, const ValueMemory& spot) {
  post([=](Endpoint& endpoint, EndpointCommands& out) { endpoint.placed(id, value, spot, out); });
}
void Communicator::readable(OutgoingId id, const void* address) {
  post([=](Endpoint& endpoint, EndpointCommands& out) { endpoint.readable(id, address, out); });
}
void Communicator::fail(std::string_view text) noexcept {
  try {
    post([text = std::string(text)](Endpoint& endpoint, EndpointCommands& out) { endpoint.fail(text, out); });
  } catch (...) {
    out_of_memory();
  }
}
void Communicator::report_failure_async(std::string_view text) noexcept {
  try {
    post_soon(
        [text = std::string(text)](Endpoint& endpoint, EndpointCommands& out) { endpoint.fail(text, out); });
  } catch (...) {
    note_out_of_memory();
    network_->poke();
  }
}

void Communicator::send_note(RankId to, std::vector<std::byte> note) {
  post_soon([to, bytes = as_note(std::move(note))](Endpoint& endpoint, EndpointCommands& out) {
    out.messages.push_back({to, bytes});
    endpoint.note_activity(Endpoint::FrontEndActivity::note_sent, out);
  });
}

void Communicator::keeps_back(bool begins) {
  post_soon([begins](Endpoint& endpoint, EndpointCommands& out) {
    endpoint.note_activity(
        begins ? Endpoint::FrontEndActivity::withholds : Endpoint::FrontEndActivity::withholds_none, out);
  });
}

void Communicator::on_note(NoteHandler hear) {
  post([this, hear = std::move(hear)](Endpoint&, EndpointCommands&) {
    hear_ = hear;
    for (const auto& [from, note] : std::exchange(unheard_, {})) hear_(from, note);
  });
}

void Communicator::came(RankId from, std::span<const std::byte> message) {
  if (is_note(message)) {
    const auto note = message.subspan(1);
    return post([this, from, bytes = std::vector(note.begin(), note.end())](Endpoint& endpoint,
                                                                            EndpointCommands& out) {
      endpoint.note_activity(Endpoint::FrontEndActivity::note_received, out);
      if (hear_)
        hear_(from, bytes);
      else
        unheard_.emplace_back(from, bytes);
    });
  }
  post([from, bytes = std::vector(message.begin(), message.end())](
           Endpoint& endpoint, EndpointCommands& out) { endpoint.message(from, bytes, out); });
}
void Communicator::landed(PayloadId expected) {
  post([=](Endpoint& endpoint, EndpointCommands& out) { endpoint.landed(expected, out); });
}
void Communicator::left(PayloadId sent) {
  post([=](Endpoint& endpoint, EndpointCommands& out) { endpoint.left(sent, out); });
}

void Communicator::failed(const std::string& why) { fail(why); }

void Communicator::lost(const std::string& why) {
  try {
    post([why](Endpoint& endpoint, EndpointCommands& out) { endpoint.lost(why, out); });
  } catch (...) {
    out_of_memory();
  }
}

void Communicator::report_idle(const GraphRun& run, std::uint64_t moved, std::string text) {
  post([=, text = std::move(text)](Endpoint& endpoint, EndpointCommands& out) {
    endpoint.report_idle(run, moved, text, out);
  });
}
std::optional<std::uint64_t> Communicator::moved() const {
  if (network_->needs_polling() && recently_active_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard guard(mutex_);
  if (serving_ || !events_.empty()) return std::nullopt;
  return endpoint_.activity();
}

void Communicator::nothing_received() {
  if (!recently_active_.load(std::memory_order_relaxed)) return;
  const auto now = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (serving_ || !events_.empty()) return;
  if (std::exchange(looked_at_, endpoint_.activity()) != endpoint_.activity()) idle_since_ = now;
  if (now - idle_since_ < idle_report_delay) return;
  recently_active_.store(false, std::memory_order_relaxed);
  const auto callback = on_quiescent_;
  lock.unlock();
  if (callback != nullptr) (*callback)();
}

bool Communicator::is_quiescent() const {
  const std::lock_guard guard(mutex_);
  return !serving_ && events_.empty() && (endpoint_.is_quiescent() || events_.has_broken_off());
}

void Communicator::on_quiescent(std::function<void()> callback) {
  auto shared = std::make_shared<const std::function<void()>>(std::move(callback));
  const std::lock_guard guard(mutex_);
  on_quiescent_ = std::move(shared);
}

NetworkTraffic Communicator::traffic() const {
  const std::lock_guard guard(mutex_);
  return traffic_;
}

}  // namespace fairlead::net
