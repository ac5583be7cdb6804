// See message_book.hpp.
#include "front/ranks/message_book.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/pages.hpp"
#include "front/ranks/host_capacity.hpp"
#include "front/ranks/notes.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t fingerprint_of_messages = 0x6d65'7373u;
constexpr Bytes share_of_messages = 16;  // of the pool's size: as much may come at once as go
// Each takes some 2 KB beside the limit: of those that were begun, and of those that others are told of before they ask.
constexpr std::size_t enough_under_way = 1024, most_others_ahead = 64, least_others_ahead = 2;
constexpr std::size_t notes_per_window = 8;  // by which the other hears what was taken in
constexpr std::uint64_t numbers = 1u << 20;  // that names tell apart

std::uint64_t name_of_message(net::RankId from, std::uint32_t tag, std::uint64_t number) noexcept {
  return std::uint64_t{net::index(from)} << 44 | std::uint64_t{tag} << 20 | number % numbers;
}
}  // namespace

/// What others tell before it is asked for takes memory here: so much of all of them together.
MessageBook::Limits MessageBook::limits_of(Bytes capacity, const net::Protocol& protocol,
                                           std::uint32_t ranks) noexcept {
  const Bytes others = capacity / share_of_messages / page_bytes / std::max(ranks - 1, 1u);
  return {.along = protocol.credit_bytes,
          .each_along = std::min(protocol.eager_bytes, protocol.credit_bytes),
          .others = std::clamp<std::size_t>(others, least_others_ahead, most_others_ahead)};
}

MessageBook::MessageBook(engine::RuntimeCore& core, net::Communicator& communicator)
    : core_(core),
      communicator_(communicator),
      limits_(limits_of(host_capacity(core), communicator.protocol(), communicator.ranks())),
      traffic_(
          core, communicator, net::Client::Cause::messages,
          {.failed = [this](const std::string& why) { failed(why); },
           .over = [this](const std::shared_ptr<void>& state) { over(state); },
           .expected = [this](std::uint64_t name, Bytes bytes, bool told) { expected(name, bytes, told); }}),
      most_under_way_(enough_under_way) {}

/// Not before there is a message: while something may come, the workers of a rank do not sleep.
void MessageBook::ensure_begun() {
  if (std::exchange(has_begun_, true)) return;
  const Bytes capacity = host_capacity(core_);
  // It is open to the end, and graphs and flows are not to have less room for that.
  traffic_.begin(fingerprint_of_messages,
                 {.visitors = capacity / share_of_messages, .page = page_bytes, .yields = true});
}

/// Under the mutex.
MessageBook::Peer& MessageBook::with(net::RankId peer) {
  return peers_.try_emplace(peer, limits_).first->second;
}

/// Else two ranks that send each other such messages at once would wait for each other, each with a place for what comes.
void MessageBook::check_room(const engine::RegisteredDatum& datum, bool sends) {
  BothWays with_it = both_ways_;
  with_it.add(datum.id, whole_pages_for(datum.bytes), sends);
  const NodeId host = core_.engine().view().host();
  const Bytes capacity = whole_pages_in(host_capacity(core_));
  if (with_it.bytes() > capacity)
    throw FootprintError(fmt::format(
        "{} cannot be {}: messages that come and others that go need {} at once, and there is {}\n"
        "  Send parts of it one after another, or {}.",
        datum.text(), sends ? "sent" : "received", mebibytes(with_it.bytes()), mebibytes(capacity),
        core_.more_memory(host, with_it.bytes())));
  both_ways_ = with_it;
}

void MessageBook::begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer, std::uint32_t tag,
                        std::shared_ptr<MessageState> state) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{} cannot be {}: {}", datum.text(), sends ? "sent" : "received", why));
  };
  if (net::index(peer) >= communicator_.ranks() || net::index(peer) >= most_ranks)
    refuse(fmt::format("there is no rank {}", net::index(peer)));
  if (peer == communicator_.own()) refuse("a rank sends nothing to itself");
  if (tag >= tags) refuse(fmt::format("the tag {} is not below {}", tag, tags));
  if (shared_of(datum) != nullptr) refuse("all ranks know it, and tasks that need it get it");
  if (datum.in_place) refuse("it lies in the program's memory; data that the runtime keeps can be");
  if (datum.view != nullptr) refuse("it is split, or a part");
  if (sends && !has_value(datum)) refuse("nothing has written it yet");
  check_room(datum, sends);
  ensure_begun();
  if (has_failed()) throw TaskError("no message can be sent or received: " + failure());
  core_.reductions().close(datum);

  std::uint64_t number = 0;
  {
    const std::lock_guard guard(mutex_);
    Peer& it = with(peer);
    number = it.begun[{sends, tag}]++;
    if (it.has_left) check_ended(peer, it);
  }
  open_.fetch_add(1);
  if (sends) {
    SendWindow::Message message{tag, number, {traffic_.take_turn(datum, datum.bytes), std::move(state)}};
    bool at_once = false;
    {
      const std::lock_guard guard(mutex_);
      at_once = goes(with(peer), peer, datum.bytes, message);
    }
    if (at_once) let_go(peer, message);
  } else {
    datum.ever_written = true;
    under_way_.fetch_add(1);
    traffic_.receive(name_of_message(peer, tag, number), datum, datum.bytes, std::move(state));
  }
  wait_for_room();
}

// ---- what goes

/// Under the mutex. What was asked for goes; else as much as there is room for.
bool MessageBook::goes(Peer& to, net::RankId peer, Bytes bytes, const SendWindow::Message& message) {
  if (const auto asked = to.asked.find(message.tag); asked != to.asked.end()) {
    if (message.number + 1 >= asked->second) to.asked.erase(asked);
    return true;
  }
  const bool at_once = may_go_along(bytes) ? to.along.begin(message.tag, message.number, bytes, message.what)
                                           : to.others.begin(message.tag, message.number, 1, message.what);
  tell_of_holding(to, peer);
  return at_once;
}

void MessageBook::let_go(net::RankId to, const SendWindow::Message& message) {
  under_way_.fetch_add(1);
  traffic_.send(message.what.turn, name_of_message(communicator_.own(), message.tag, message.number), to,
                static_cast<std::uint32_t>(to), message.what.state);
}

/// Where that has changed: as long as we hold something back, who has come to a message that has not says so at once. Under
/// the mutex.
void MessageBook::tell_of_holding(Peer& to, net::RankId peer) {
  if (to.holds_back() == (to.told_of_holding % 2 != 0)) return;
  NoteWriter note(static_cast<std::uint8_t>(Note::holds_back));
  communicator_.say(peer, note.number(++to.told_of_holding).taken());
  communicator_.keeps_back(to.holds_back());
}

void MessageBook::is_asked(net::RankId by, NoteReader& note) {
  std::vector<SendWindow::Message> go;
  {
    const std::lock_guard guard(mutex_);
    Peer& it = with(by);
    for (std::uint64_t left = note.number(); left != 0; --left) {
      const auto tag = static_cast<std::uint32_t>(note.number());
      const std::uint64_t until = note.number();
      it.along.asked(tag, until, go);
      it.others.asked(tag, until, go);
      const auto begun = it.begun.find({true, tag});
      if (begun != it.begun.end() && until <= begun->second) continue;
      std::uint64_t& asked = it.asked[tag];
      asked = std::max(asked, until);
    }
  }
  for (const SendWindow::Message& message : go) let_go(by, message);
  const std::lock_guard guard(mutex_);
  tell_of_holding(with(by), by);
}

// ---- what comes

/// The place is free. The other hears of it now and then, so that as much again may be ahead; and at once if this one may be held
/// back there.
void MessageBook::expected(std::uint64_t name, Bytes bytes, bool told) {
  const net::RankId peer{static_cast<std::uint32_t>(name >> 44)};
  const auto tag = static_cast<std::uint32_t>(name >> 20 & (tags - 1));
  const std::lock_guard guard(mutex_);
  Peer& it = with(peer);
  const std::uint64_t begun =
      it.begun[{false, tag}];  // more than the number, and not by as much as names tell apart
  const std::uint64_t number = begun - 1 - (begun - 1 - name % numbers) % numbers;
  std::uint64_t& until = it.unasked[tag];
  until = std::max(until, number + 1);
  may_go_along(bytes) ? it.unasked_along += bytes : ++it.unasked_others;
  if ((it.holding % 2 != 0 && !told) || notes_per_window * it.unasked_along >= limits_.along ||
      notes_per_window * it.unasked_others >= limits_.others)
    ask(it, peer);
}

/// Under the mutex.
void MessageBook::ask(Peer& from, net::RankId peer) {
  NoteWriter note(static_cast<std::uint8_t>(Note::asks));
  note.number(from.unasked.size());
  for (const auto& [tag, until] : from.unasked) note.number(tag).number(until);
  from.unasked.clear();
  from.unasked_along = 0;
  from.unasked_others = 0;
  communicator_.say(peer, note.taken());
}

void MessageBook::heard(net::RankId from, std::span<const std::byte> note) {
  const auto kind = static_cast<Note>(note.front());
  NoteReader in(note.subspan(1));
  if (kind == Note::asks) return is_asked(from, in);
  const std::lock_guard guard(mutex_);
  Peer& peer = with(from);
  if (kind == Note::holds_back) {
    peer.holding = std::max(peer.holding, in.number());  // they may overtake each other
    if (peer.holding % 2 != 0 && !peer.unasked.empty()) ask(peer, from);
    return;
  }
  for (std::uint64_t left = in.number(); left != 0; --left) {
    const bool sends = in.number() != 0;
    const auto tag = static_cast<std::uint32_t>(in.number());
    peer.its_own[{sends, tag}] = in.number();
  }
  peer.has_left = true;
  check_ended(from, peer);
}

// ---- what is over

void MessageBook::over(const std::shared_ptr<void>& owner) {
  if (has_failed()) return;  // it was given up
  bool calls_back = false;
  if (owner != nullptr) {
    auto& state = *static_cast<MessageState*>(owner.get());
    calls_back = state.done != nullptr;
    if (calls_back) core_.engine().callbacks().push([done = std::exchange(state.done, nullptr)] { done(); });
    state.over.store(true);
  }
  under_way_.fetch_sub(1);
  open_.fetch_sub(1);
  if (calls_back)
    core_.world().serve_for_others();  // who is woken looks for what was posted, and for no callbacks
  core_.world().wake(engine::Who::application());
}

/// A program that is far ahead of what can be done at once brings it on its way, as long as anything moves. It is not kept for what
/// others have to do first: they may wait for what it does next.
void MessageBook::wait_for_room() {
  const auto few = [this] { return 2 * under_way_.load() <= enough_under_way || has_failed(); };
  if (under_way_.load() < most_under_way_) {
    if (most_under_way_ != enough_under_way && few()) most_under_way_ = enough_under_way;
    return;
  }
  core_.work_off(few);
  static_cast<void>(core_.help([&] { return few() || communicator_.moved().has_value(); }));
  core_.throw_if_stopped();
  most_under_way_ = few() ? enough_under_way : 2 * under_way_.load();
}

void MessageBook::wait(const MessageState& message) {
  core_.caller().check("wait");
  core_.help_until([&] { return message.over.load() || has_failed(); }, "wait");
  if (!message.over.load()) throw TaskError("a message will not arrive: " + failure());
}

void MessageBook::failed(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (has_failed_.load()) return;
    failure_ = why;
    has_failed_.store(true);
  }
  traffic_.give_up();
  core_.world().serve_surely_for_others();
  core_.world().wake(engine::Who::application());
}

std::string MessageBook::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

void MessageBook::leave() noexcept {
  if (communicator_.ranks() == 1 || !core_.caller().may_wait()) return;
  try {
    ensure_begun();  // the others have to see that it is over
    for (std::uint32_t rank = 0; rank < communicator_.ranks(); ++rank) {
      if (net::RankId{rank} == communicator_.own()) continue;
      NoteWriter note(static_cast<std::uint8_t>(Note::end));
      const std::lock_guard guard(mutex_);
      const Counts& begun = with(net::RankId{rank}).begun;
      note.number(begun.size());
      for (const auto& [what, count] : begun) note.number(what.first).number(what.second).number(count);
      communicator_.say(net::RankId{rank}, note.taken());
    }
    if (open_.load() != 0) {
      const std::lock_guard guard(mutex_);
      for (const auto& [rank, peer] : peers_)
        if (peer.has_left) check_ended(rank, peer);
    }
    static_cast<void>(core_.help([this] { return has_failed() || (open_.load() == 0 && traffic_.none()); }));
    traffic_.end();
    static_cast<void>(core_.help([this] { return traffic_.none(); }));
  } catch (...) {
    communicator_.fail_soon("its program has ended while messages were under way");
  }
}

/// Each that we send it has to receive, and the other way round. Under the
/// mutex.
void MessageBook::check_ended(net::RankId rank, const Peer& peer) {
  for (const auto& [what, count] : peer.begun) {
    const auto found = peer.its_own.find({!what.first, what.second});
    const std::uint64_t there = found == peer.its_own.end() ? 0 : found->second;
    if (count <= there) continue;
    return communicator_.fail_soon(fmt::format(
        "rank {} has ended, and {} {} messages {} rank {} with the tag {}: "
        "rank {} has {} {} of them",
        net::index(rank), "rank " + std::to_string(net::index(communicator_.own())) + " has begun", count,
        what.first ? "to" : "from", net::index(rank), what.second, net::index(rank),
        what.first ? "received" : "sent", there));
  }
}

}  // namespace fairlead::front
