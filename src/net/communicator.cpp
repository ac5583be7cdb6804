// See communicator.hpp.
#include "net/communicator.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "net/neighbours.hpp"

namespace fairlead::net {

namespace {
constexpr Bytes piece_of_copy = Bytes{1} << 20;
// Ranks that wait for each other's tasks all the time have nothing to say of it.
constexpr std::chrono::milliseconds calm_after{1};

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
/// Calls f() in the end, also where that is an exception.
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
  if (!protocol_.tells_credit) return;
  post_and_wait([this](Endpoint&, Commands& out) {
    for (std::uint32_t i = 0; i < ranks(); ++i)
      if (RankId{i} != own())
        out.messages.push_back({RankId{i}, bytes_of(Allowance{protocol_.credit_bytes})});
  });
}

Communicator::~Communicator() {
  post_and_wait([](Endpoint& endpoint, Commands& out) { endpoint.close(out); });
  wait_until([this] {
    return !serving_ && events_.empty() && (endpoint_.all_closed() || events_.has_broken_off());
  });
  // After a failure runs may be open, and others in the middle of reading and writing what belongs to them.
  post_and_wait([this](Endpoint& endpoint, Commands& out) {
    const auto runs = std::move(clients_);
    clients_.clear();
    if (!events_.has_broken_off())
      for (const auto& [run, client] : runs) endpoint.end(run, out);
    for (const PayloadId payload : out.dropped) network_->drop(payload);
    copies_.clear();
    out.clear();  // nobody is told any more
  });
  network_->listen(false);  // who drives it sleeps, and can be ended
  network_->end();
}

/// Where the program's thread waits for other ranks and works no tasks meanwhile. It has to come: what it waits for may be about to
/// use the caller's variables.
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
    // Nothing is driven any more, so what was left to the network's thread is done here.
    for (; !is_done(); std::this_thread::yield()) poked();
  }
  std::unique_lock lock(mutex_);
  served_.wait(lock, done);
}

/// By the program's thread, one at a time. Until it is over, also where that is an exception or there is no memory.
template <class E>
void Communicator::post_and_wait(E&& event) noexcept {
  bool over = false;
  const auto whole = [&, this](Endpoint& endpoint, Commands& out) {
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

/// Who finds nobody at it, and nothing before him, does it at once.
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
    } catch (const std::exception& error) {  // the network fails: no rank can go on
      commands_.clear();
      endpoint_.fail(error.what(), commands_);
      bool no_memory = false;
      for (Commands::Message& message : commands_.messages) try {
          network_->send(std::move(message));
        } catch (const std::bad_alloc&) {
          no_memory = true;
        } catch (...) {
          // Other ranks may hear of it though this one cannot.
        }
      tell_each(clients_, endpoint_.failure());
      if (no_memory) note_break();
    }
  } catch (...) {
    note_break();
  }
  commands_.clear();
}

/// What was to happen is missing for good: the state of this rank is not consistent any more.
void Communicator::note_break() noexcept {
  const std::lock_guard guard(mutex_);
  events_.break_off();
}

void Communicator::out_of_memory() noexcept {
  note_break();
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

void Communicator::watch_by(ValueWatch& watch) {
  post([this, &watch](Endpoint&, Commands&) { watch_ = &watch; });
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
      network_->break_off();
      for (const auto& entry : clients_) entry.second->out_of_memory();
    }
    lock.lock();
  }
  serving_ = false;
  traffic_ = endpoint_.traffic();
  stirred_.store(true, std::memory_order_relaxed);
  served_.notify_all();
  const auto tell = tell_quiet_;
  lock.unlock();
  if (tell != nullptr) (*tell)();
}

/// A part of what is copied here, so that whatever else happens waits for no more than that.
void Communicator::copy_piece(Endpoint& endpoint, Commands& out) {
  if (copies_.empty()) return;  // it was dropped
  Commands::Copy copy = copies_.front();
  copies_.pop_front();
  const Bytes bytes = std::min(copy.bytes, piece_of_copy);
  const bool good =
      network_->neighbours() != nullptr && network_->neighbours()->read({.from = copy.from,
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
  post_soon([this](Endpoint& of, Commands& more) { copy_piece(of, more); });
}

void Communicator::carry_out(Commands& commands) {
  // What cannot be brought to a device ends the run of all: the other ranks are notified, as of a task's failure.
  const auto into_device = [this](const auto& bring) {
    try {
      bring();
    } catch (const SystemError& error) {
      fail_soon(error.what());
    }
  };
  // First what is not to be touched any more.
  for (const PayloadId payload : commands.dropped) {
    network_->drop(payload);
    std::erase_if(copies_, [&](const Commands::Copy& copy) { return copy.id == payload; });
  }
  for (const Commands::Expected& expected : commands.expected)
    if (expected.memory == nullptr)
      network_->expect(expected);
    else
      into_device([&] { network_->expect(expected); });
  for (const Commands::Fill& fill : commands.fills)
    if (fill.memory == nullptr)
      fill.layout.scatter(fill.bytes.data(), fill.place, fill.bytes.size());
    else  // or the device is lost: then the value is, too, as the engine hears
      into_device([&] { fill.memory->write(fill.place, fill.bytes.data(), fill.bytes.size()); });
  for (Commands::Message& message : commands.messages) network_->send(std::move(message));
  for (const Commands::Payload& payload : commands.payloads) network_->send(payload);
  for (const Commands::Copy& copy : commands.copies) {
    copies_.push_back(copy);
    post_soon([this](Endpoint& endpoint, Commands& out) { copy_piece(endpoint, out); });
  }
  // A value that is passed on is kept before it is told of.
  for (const Commands::Landed& landed : commands.landed)
    if (Client* const client = client_of(clients_, landed.name.of)) {
      if (watch_ != nullptr && !landed.control) watch_->is_here(landed.name);
      client->landed(landed);
    }
  for (const Commands::Read& read : commands.reads)
    if (Client* const client = client_of(clients_, read.name.of)) {
      if (watch_ != nullptr && !read.over) watch_->goes(read);
      client->read(read);
    }
  for (const Commands::Left& left : commands.left)
    if (Client* const client = client_of(clients_, left.name.of)) {
      if (watch_ != nullptr) watch_->has_gone(left);
      client->left(left);
    }
  for (const Commands::Place& place : commands.places)
    if (Client* const client = client_of(clients_, place.name.of)) {
      if (watch_ != nullptr) watch_->comes(place, client->cause());
      client->find_place(place);
    }
  if (!commands.failure.empty()) tell_each(clients_, commands.failure);
}

void Communicator::begin(const GraphRun& run, std::uint64_t fingerprint, const Room& room, Client& client,
                         bool gated) {
  post_and_wait([&, this](Endpoint& endpoint, Commands& out) {
    if (events_.has_broken_off()) return client.out_of_memory();
    try {
      clients_[run] = &client;
    } catch (...) {
      client.out_of_memory();
      throw;
    }
    network_->listen(true);
    if (const std::string& why = endpoint.failure(); !why.empty()) return notify(client, why);
    endpoint.begin(run, fingerprint, room, out, gated);
  });
}

void Communicator::expect(const GraphRun& run, std::uint64_t key) {
  post_soon([=, this](Endpoint& endpoint, Commands& out) {
    const bool told = endpoint.expect(run, key, out);
    if (Client* const client = client_of(clients_, run)) client->expected(key, told);
  });
}

void Communicator::end(const GraphRun& run) {
  post_and_wait([&, this](Endpoint& endpoint, Commands& out) {
    const Finally then([&] {
      clients_.erase(run);
      network_->listen(!clients_.empty());
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

void Communicator::over(const GraphRun& run, std::uint64_t task, std::vector<Endpoint::Output> outputs) {
  post_soon([run, task, outputs = std::move(outputs)](Endpoint& endpoint, Commands& out) {
    endpoint.over(run, task, outputs, out);
  });
}
void Communicator::placed(IncomingId id, std::uint64_t value, const Spot& spot) {
  post([=](Endpoint& endpoint, Commands& out) { endpoint.placed(id, value, spot, out); });
}
void Communicator::readable(OutgoingId id, const void* address) {
  post([=](Endpoint& endpoint, Commands& out) { endpoint.readable(id, address, out); });
}
void Communicator::fail(std::string_view text) noexcept {
  try {
    post([text = std::string(text)](Endpoint& endpoint, Commands& out) { endpoint.fail(text, out); });
  } catch (...) {
    out_of_memory();
  }
}
void Communicator::fail_soon(std::string_view text) noexcept {
  try {
    post_soon([text = std::string(text)](Endpoint& endpoint, Commands& out) { endpoint.fail(text, out); });
  } catch (...) {
    note_break();
    network_->poke();
  }
}

void Communicator::say(RankId to, std::vector<std::byte> note) {
  post_soon([to, bytes = as_note(std::move(note))](Endpoint& endpoint, Commands& out) {
    out.messages.push_back({to, bytes});
    endpoint.beside(Endpoint::Beside::says, out);
  });
}

void Communicator::keeps_back(bool begins) {
  post_soon([begins](Endpoint& endpoint, Commands& out) {
    endpoint.beside(begins ? Endpoint::Beside::keeps_back : Endpoint::Beside::keeps_back_none, out);
  });
}

void Communicator::hear(Hear hear) {
  post([this, hear = std::move(hear)](Endpoint&, Commands&) {
    hear_ = hear;
    for (const auto& [from, note] : std::exchange(unheard_, {})) hear_(from, note);
  });
}

void Communicator::came(RankId from, std::span<const std::byte> message) {
  if (is_note(message)) {
    const auto note = message.subspan(1);
    return post(
        [this, from, bytes = std::vector(note.begin(), note.end())](Endpoint& endpoint, Commands& out) {
          endpoint.beside(Endpoint::Beside::hears, out);
          if (hear_)
            hear_(from, bytes);
          else
            unheard_.emplace_back(from, bytes);
        });
  }
  post([from, bytes = std::vector(message.begin(), message.end())](Endpoint& endpoint, Commands& out) {
    endpoint.message(from, bytes, out);
  });
}
void Communicator::landed(PayloadId expected) {
  post([=](Endpoint& endpoint, Commands& out) { endpoint.landed(expected, out); });
}
void Communicator::left(PayloadId sent) {
  post([=](Endpoint& endpoint, Commands& out) { endpoint.left(sent, out); });
}

void Communicator::failed(const std::string& why) { fail(why); }

void Communicator::lost(const std::string& why) {
  try {
    post([why](Endpoint& endpoint, Commands& out) { endpoint.lost(why, out); });
  } catch (...) {
    out_of_memory();
  }
}

void Communicator::waits(const GraphRun& run, std::uint64_t moved, std::string text) {
  post([=, text = std::move(text)](Endpoint& endpoint, Commands& out) {
    endpoint.waits(run, moved, text, out);
  });
}
std::optional<std::uint64_t> Communicator::moved() const {
  if (network_->has_to_be_driven() && stirred_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard guard(mutex_);
  if (serving_ || !events_.empty()) return std::nullopt;
  return endpoint_.activity();
}

void Communicator::nothing_came() {
  if (!stirred_.load(std::memory_order_relaxed)) return;
  const auto now = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (serving_ || !events_.empty()) return;
  if (std::exchange(looked_at_, endpoint_.activity()) != endpoint_.activity()) still_since_ = now;
  if (now - still_since_ < calm_after) return;
  stirred_.store(false, std::memory_order_relaxed);
  const auto tell = tell_quiet_;
  lock.unlock();
  if (tell != nullptr) (*tell)();
}

bool Communicator::quiet() const {
  const std::lock_guard guard(mutex_);
  return !serving_ && events_.empty() && (endpoint_.quiet() || events_.has_broken_off());
}

void Communicator::on_quiet(std::function<void()> tell) {
  auto shared = std::make_shared<const std::function<void()>>(std::move(tell));
  const std::lock_guard guard(mutex_);
  tell_quiet_ = std::move(shared);
}

Traffic Communicator::traffic() const {
  const std::lock_guard guard(mutex_);
  return traffic_;
}

}  // namespace fairlead::net
