// See message_book.hpp.
#include "front/ranks/message_book.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <utility>

#include "base/pages.hpp"
#include "front/ranks/notes.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t fingerprint_of_messages = 0x6d65'7373u;
constexpr Bytes share_of_messages = 16;  // of the pool's size: as much may come at once as go

std::uint64_t name_of_message(net::RankId from, std::uint32_t tag, std::uint64_t number) noexcept {
  return std::uint64_t{net::index(from)} << 44 | std::uint64_t{tag} << 20 | (number & 0xf'ffff);
}
}  // namespace

MessageBook::MessageBook(engine::RuntimeCore& core, net::Communicator& communicator)
    : core_(core),
      communicator_(communicator),
      traffic_(
          core, communicator, net::Client::Cause::messages, [this](const std::string& why) { failed(why); },
          [this](std::uint64_t number) { over(number); }) {}

/// Not before there is a message: while something may come, the workers of a rank do not sleep.
void MessageBook::ensure_begun() {
  if (std::exchange(has_begun_, true)) return;
  const Bytes capacity = core_.topology().nodes[index(core_.engine().view().host())].capacity;
  traffic_.begin(fingerprint_of_messages, {.visitors = capacity / share_of_messages, .page = page_bytes});
}

std::shared_ptr<MessageState> MessageBook::begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer,
                                                 std::uint32_t tag, std::function<void()> done) {
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
  ensure_begun();
  if (has_failed()) throw TaskError("no message can be sent or received: " + failure());
  if (datum.reduction != nullptr && datum.reduction->fold != nullptr) datum.reduction->close();

  std::uint64_t count = 0;
  {
    const std::lock_guard guard(mutex_);
    Peer& with = peers_[peer];
    count = with.begun[{sends, tag}]++;
    if (with.has_left) check_ended(peer, with);
  }
  auto state = std::make_shared<MessageState>();
  state->done = std::move(done);
  open_.fetch_add(1);
  const std::uint64_t name = name_of_message(sends ? communicator_.own() : peer, tag, count);
  if (!sends) datum.ever_written = true;
  const std::uint64_t number =
      sends ? traffic_.send(0, name, datum, datum.bytes, peer, static_cast<std::uint32_t>(peer))
            : traffic_.receive(name, datum, datum.bytes);
  bool is_over = false;
  {
    const std::lock_guard guard(mutex_);
    is_over = early_.erase(number) != 0;
    under_way_.emplace(number, state);
  }
  if (is_over) over(number);
  return state;
}

void MessageBook::over(std::uint64_t number) {
  std::shared_ptr<MessageState> state;
  {
    const std::lock_guard guard(mutex_);
    const auto found = under_way_.find(number);
    if (found == under_way_.end()) {
      early_[number] = true;
      return;
    }
    state = std::move(found->second);
    under_way_.erase(found);
  }
  if (has_failed()) return;  // it was given up
  if (state->done != nullptr)
    core_.engine().callbacks().push([done = std::exchange(state->done, nullptr)] { done(); });
  state->over.store(true);
  open_.fetch_sub(1);
  core_.world().wake(engine::Who::application());
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
      NoteWriter note(note_of_end);
      const std::lock_guard guard(mutex_);
      const Counts& begun = peers_[net::RankId{rank}].begun;
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

void MessageBook::heard(net::RankId from, std::span<const std::byte> note) {
  NoteReader in(note.subspan(1));
  const std::lock_guard guard(mutex_);
  Peer& peer = peers_[from];
  for (std::uint64_t left = in.number(); left != 0; --left) {
    const bool sends = in.number() != 0;
    const auto tag = static_cast<std::uint32_t>(in.number());
    peer.its_own[{sends, tag}] = in.number();
  }
  peer.has_left = true;
  check_ended(from, peer);
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
