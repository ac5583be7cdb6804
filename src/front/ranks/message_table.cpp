// Sending and receiving messages of the program. See message_table.hpp.
#include "front/ranks/message_table.hpp"

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
constexpr Bytes share_of_messages = 16;  // divisor of the pool's size, for each direction
// Each message takes about 2 KB outside the memory limit: those in flight, and those announced before they are
// requested.
constexpr std::size_t enough_under_way = 1024, most_others_ahead = 64, least_others_ahead = 2;
constexpr std::size_t notes_per_window = 8;  // how often per window the receiver reports what it has reached
constexpr std::uint64_t numbers = 1u << 20;  // of messages that names distinguish

std::uint64_t name_of_message(net::RankId from, std::uint32_t tag, std::uint64_t number) noexcept {
  return std::uint64_t{net::index(from)} << 44 | std::uint64_t{tag} << 20 | number % numbers;
}
}  // namespace

/// Announcements that arrive before they are requested take memory here. This limits those of all ranks together.
MessageTable::Limits MessageTable::limits_of(Bytes capacity, const net::Protocol& protocol,
                                             std::uint32_t ranks) noexcept {
  const Bytes others = capacity / share_of_messages / page_bytes / std::max(ranks - 1, 1u);
  return {.along = protocol.credit_bytes,
          .each_along = std::min(protocol.eager_bytes, protocol.credit_bytes),
          .others = std::clamp<std::size_t>(others, least_others_ahead, most_others_ahead)};
}

MessageTable::MessageTable(engine::RuntimeCore& core, net::Communicator& communicator)
    : core_(core),
      communicator_(communicator),
      limits_(limits_of(host_capacity(core), communicator.protocol(), communicator.ranks())),
      traffic_(core, communicator, net::Client::Cause::messages,
               {.failed = [this](const std::string& why) { failed(why); },
                .over = [this](const std::shared_ptr<void>& state) { over(state); },
                .expected = [this](std::uint64_t name, Bytes bytes,
                                   bool announced) { expected(name, bytes, announced); }}),
      most_under_way_(enough_under_way) {}

/// Started by the first message: while messages may arrive, the workers of a rank do not sleep.
void MessageTable::ensure_begun() {
  if (std::exchange(has_begun_, true)) return;
  const Bytes capacity = host_capacity(core_);
  // Open until the program ends; it must not reduce the space of graphs and flows.
  traffic_.begin(fingerprint_of_messages,
                 {.in_transit = capacity / share_of_messages, .page = page_bytes, .yields = true});
}

/// Requires the mutex.
MessageTable::Peer& MessageTable::with(net::RankId peer) {
  return peers_.try_emplace(peer, limits_).first->second;
}

/// Otherwise two ranks that send each other large messages at the same time could deadlock: each would hold the buffer
/// for the incoming message and wait for space for the outgoing one.
void MessageTable::check_room(const engine::RegisteredDatum& datum, bool sends) {
  BidirectionalFootprint with_it = both_ways_;
  with_it.add(datum.id, whole_pages_for(datum.bytes), sends);
  const NodeId host = core_.engine().view().host();
  const Bytes capacity = whole_pages_in(host_capacity(core_));
  if (with_it.bytes() > capacity)
    throw FootprintError(
        fmt::format("{} cannot be {}: incoming and outgoing messages need {} at once, and there is {}\n  "
                    "Send parts of it one after another, or {}.",
                    datum.text(), sends ? "sent" : "received", mebibytes(with_it.bytes()),
                    mebibytes(capacity), core_.memory_advice(host, with_it.bytes())));
  both_ways_ = with_it;
}

void MessageTable::begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer, std::uint32_t tag,
                         std::shared_ptr<MessageState> state) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{} cannot be {}: {}", datum.text(), sends ? "sent" : "received", why));
  };
  if (net::index(peer) >= communicator_.ranks() || net::index(peer) >= most_ranks)
    refuse(fmt::format("there is no rank {}", net::index(peer)));
  if (peer == communicator_.own()) refuse("a rank sends nothing to itself");
  if (tag >= tags) refuse(fmt::format("the tag {} is not below {}", tag, tags));
  if (shared_of(datum) != nullptr) refuse("all ranks know it, and tasks that need it get it");
  if (datum.in_place) refuse("it is in the program's memory; only data in the runtime's memory can be");
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
    if (at_once) send_now(peer, message);
  } else {
    datum.ever_written = true;
    under_way_.fetch_add(1);
    traffic_.receive(name_of_message(peer, tag, number), datum, datum.bytes, std::move(state));
  }
  limit_in_flight();
}

// ---- sending

/// Requires the mutex. Requested messages are sent; others as far as the window allows.
bool MessageTable::goes(Peer& to, net::RankId peer, Bytes bytes, const SendWindow::Message& message) {
  if (const auto asked = to.asked.find(message.tag); asked != to.asked.end()) {
    if (message.number + 1 >= asked->second) to.asked.erase(asked);
    return true;
  }
  const bool at_once = is_eager(bytes) ? to.along.begin(message.tag, message.number, bytes, message.what)
                                       : to.others.begin(message.tag, message.number, 1, message.what);
  tell_of_holding(to, peer);
  return at_once;
}

void MessageTable::send_now(net::RankId to, const SendWindow::Message& message) {
  under_way_.fetch_add(1);
  traffic_.send(message.what.turn, name_of_message(communicator_.own(), message.tag, message.number), to,
                static_cast<std::uint32_t>(to), message.what.state);
}

/// Notifies the peer when holding back begins or ends. While this rank holds messages back, the peer reports
/// immediately when it reaches an unannounced message. Requires the mutex.
void MessageTable::tell_of_holding(Peer& to, net::RankId peer) {
  if (to.holds_back() == (to.throttle_notes_sent % 2 != 0)) return;
  NoteWriter note(static_cast<std::uint8_t>(Note::holds_back));
  communicator_.send_note(peer, note.number(++to.throttle_notes_sent).taken());
  communicator_.keeps_back(to.holds_back());
}

void MessageTable::on_credit(net::RankId by, NoteReader& note) {
  std::vector<SendWindow::Message> go;
  {
    const std::lock_guard guard(mutex_);
    Peer& it = with(by);
    for (std::uint64_t left = note.number(); left != 0; --left) {
      const auto tag = static_cast<std::uint32_t>(note.number());
      const std::uint64_t until = note.number();
      it.along.grant(tag, until, go);
      it.others.grant(tag, until, go);
      const auto begun = it.begun.find({true, tag});
      if (begun != it.begun.end() && until <= begun->second) continue;
      std::uint64_t& asked = it.asked[tag];
      asked = std::max(asked, until);
    }
  }
  for (const SendWindow::Message& message : go) send_now(by, message);
  const std::lock_guard guard(mutex_);
  tell_of_holding(with(by), by);
}

// ---- receiving

/// The buffer of an incoming message is ready. The sender is notified several times per window, so that it can send
/// more; it is notified immediately if it may be holding this message back.
void MessageTable::expected(std::uint64_t name, Bytes bytes, bool announced) {
  const net::RankId peer{static_cast<std::uint32_t>(name >> 44)};
  const auto tag = static_cast<std::uint32_t>(name >> 20 & (tags - 1));
  const std::lock_guard guard(mutex_);
  Peer& it = with(peer);
  const std::uint64_t begun = it.begun[{false, tag}];  // exceeds the number, by less than `numbers`
  const std::uint64_t number = begun - 1 - (begun - 1 - name % numbers) % numbers;
  std::uint64_t& until = it.unreported[tag];
  until = std::max(until, number + 1);
  is_eager(bytes) ? it.unasked_along += bytes : ++it.unasked_others;
  if ((it.throttle_note % 2 != 0 && !announced) || notes_per_window * it.unasked_along >= limits_.along ||
      notes_per_window * it.unasked_others >= limits_.others)
    ask(it, peer);
}

/// Requires the mutex.
void MessageTable::ask(Peer& from, net::RankId peer) {
  NoteWriter note(static_cast<std::uint8_t>(Note::asks));
  note.number(from.unreported.size());
  for (const auto& [tag, until] : from.unreported) note.number(tag).number(until);
  from.unreported.clear();
  from.unasked_along = 0;
  from.unasked_others = 0;
  communicator_.send_note(peer, note.taken());
}

void MessageTable::on_note(net::RankId from, std::span<const std::byte> note) {
  const auto kind = static_cast<Note>(note.front());
  NoteReader in(note.subspan(1));
  if (kind == Note::asks) return on_credit(from, in);
  const std::lock_guard guard(mutex_);
  Peer& peer = with(from);
  if (kind == Note::holds_back) {
    peer.throttle_note = std::max(peer.throttle_note, in.number());  // notes may overtake each other
    if (peer.throttle_note % 2 != 0 && !peer.unreported.empty()) ask(peer, from);
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

// ---- completion

void MessageTable::over(const std::shared_ptr<void>& owner) {
  if (has_failed()) return;  // the message was abandoned
  bool calls_back = false;
  if (owner != nullptr) {
    auto& state = *static_cast<MessageState*>(owner.get());
    calls_back = state.done != nullptr;
    if (calls_back) core_.engine().callbacks().push([done = std::exchange(state.done, nullptr)] { done(); });
    state.complete.store(true);
  }
  under_way_.fetch_sub(1);
  open_.fetch_sub(1);
  if (calls_back)
    core_.world().process_remote_events();  // the woken thread serves posted events but no callbacks
  core_.world().wake(engine::WakeTarget::application());
}

/// If the program has started many more messages than can be in flight, it drives communication while there is
/// progress. It does not wait for actions of other ranks: these may depend on what the program does next.
void MessageTable::limit_in_flight() {
  const auto few = [this] { return 2 * under_way_.load() <= enough_under_way || has_failed(); };
  if (under_way_.load() < most_under_way_) {
    if (most_under_way_ != enough_under_way && few()) most_under_way_ = enough_under_way;
    return;
  }
  core_.work_off(few);
  static_cast<void>(core_.wait([&] { return few() || communicator_.moved().has_value(); }));
  core_.throw_if_stopped();
  most_under_way_ = few() ? enough_under_way : 2 * under_way_.load();
}

void MessageTable::wait(const MessageState& message) {
  core_.caller().check("wait");
  core_.wait_until([&] { return message.complete.load() || has_failed(); }, "wait");
  if (!message.complete.load()) throw TaskError("a message will not arrive: " + failure());
}

void MessageTable::failed(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (has_failed_.load()) return;
    failure_ = why;
    has_failed_.store(true);
  }
  traffic_.abandon();
  core_.world().process_remote_events_and_retry();
  core_.world().wake(engine::WakeTarget::application());
}

std::string MessageTable::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

void MessageTable::leave() noexcept {
  if (communicator_.ranks() == 1 || !core_.caller().may_wait()) return;
  try {
    ensure_begun();  // the other ranks must be notified of the end
    for (std::uint32_t rank = 0; rank < communicator_.ranks(); ++rank) {
      if (net::RankId{rank} == communicator_.own()) continue;
      NoteWriter note(static_cast<std::uint8_t>(Note::end));
      const std::lock_guard guard(mutex_);
      const Counts& begun = with(net::RankId{rank}).begun;
      note.number(begun.size());
      for (const auto& [what, count] : begun) note.number(what.first).number(what.second).number(count);
      communicator_.send_note(net::RankId{rank}, note.taken());
    }
    if (open_.load() != 0) {
      const std::lock_guard guard(mutex_);
      for (const auto& [rank, peer] : peers_)
        if (peer.has_left) check_ended(rank, peer);
    }
    static_cast<void>(core_.wait([this] { return has_failed() || (open_.load() == 0 && traffic_.none()); }));
    traffic_.end();
    static_cast<void>(core_.wait([this] { return traffic_.none(); }));
  } catch (...) {
    communicator_.report_failure_async("its program has ended while messages were in flight");
  }
}

/// Each message sent to `rank` must be received there, and vice versa. Requires the mutex.
void MessageTable::check_ended(net::RankId rank, const Peer& peer) {
  for (const auto& [what, count] : peer.begun) {
    const auto found = peer.its_own.find({!what.first, what.second});
    const std::uint64_t there = found == peer.its_own.end() ? 0 : found->second;
    if (count <= there) continue;
    return communicator_.report_failure_async(fmt::format(
        "rank {} has ended, and {} {} messages {} rank {} with the tag {}: "
        "rank {} has {} {} of them",
        net::index(rank), "rank " + std::to_string(net::index(communicator_.own())) + " has begun", count,
        what.first ? "to" : "from", net::index(rank), what.second, net::index(rank),
        what.first ? "received" : "sent", there));
  }
}

}  // namespace fairlead::front
