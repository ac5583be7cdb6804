// See mpi_network.hpp.
#include "net/mpi/mpi_network.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

namespace fairlead::net {

namespace {
int tag_of(const MpiGroups& groups, std::uint64_t tag) noexcept {
  return static_cast<int>(tag % (static_cast<std::uint64_t>(groups.largest_tag) + 1));
}
// What most messages have room in: an activate with some outputs is 60 bytes.
constexpr std::size_t short_bytes = 4096;
// MPI keeps what finds none of them waiting.
constexpr std::size_t receives = 16;
constexpr unsigned looks_per_telling = 16;  // that nothing came: the clock is read then
constexpr int message_tag = 1;
constexpr Bytes largest_part = Bytes{1} << 30;  // MPI counts elements by int
// The first byte of a short message.
constexpr std::byte is_whole{0}, announces_long{1};
struct Announcement {
  std::uint64_t bytes = 0;
  std::int32_t tag = 0;
};
int count_of(std::size_t bytes) noexcept { return static_cast<int>(bytes); }
}  // namespace

MpiNetwork::MpiNetwork(const MpiGroups& groups, std::string description)
    : groups_(groups), description_(std::move(description)), tally_(groups.ranks) {}

MpiNetwork::~MpiNetwork() {
  if (hearing_.has_begun()) end();
}

/// What MPI has failed to do it may fail to do again, or wait for others who do not come: it is asked for nothing more.
template <class Ask>
void MpiNetwork::or_broken(const Ask& ask) {
  try {
    ask();
  } catch (const MpiError& error) {
    if (is_lost()) return;  // MPI may have seen it as well
    lose(error.what());
    tell_broken(error.what());
  }
}

void MpiNetwork::begin(Listener& listener) {
  if (is_other_thread())
    throw SystemError(
        "this MPI may be called by the thread alone that has begun it, which therefore has to make the "
        "runtime and to wait for it");
  const std::lock_guard guard(mutex_);
  hearing_.begin(listener);
  if (is_lost()) return;
  or_broken([&] { receives_.begin(groups_.messages, message_tag, receives, short_bytes + 1); });
}

void MpiNetwork::say(RankId to, MPI_Comm by, int tag, std::vector<std::byte> bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Isend(bytes.data(), count_of(bytes.size()), MPI_BYTE, static_cast<int>(to), tag, by, &request),
      "send a message");
  requests_.add(request, {.kind = Kind::says, .other = to, .bytes = std::move(bytes)});
  tally_.sent(to, by == groups_.messages ? MpiTally::Of::messages : MpiTally::Of::long_messages);
}

bool MpiNetwork::leaves_it(Wanted wanted) {
  if (!groups_.by_one_thread) return false;
  if (!is_other_thread()) {
    do_what_was_left();  // in its turn
    return false;
  }
  const std::lock_guard guard(left_mutex_);
  left_.push_back(std::move(wanted));
  return true;
}

void MpiNetwork::do_what_was_left() {
  std::deque<Wanted> left;
  {
    const std::lock_guard guard(left_mutex_);
    left.swap(left_);
  }
  for (Wanted& wanted : left) try {
      std::visit([this](auto& it) { carry_out(it); }, wanted);
    } catch (const std::bad_alloc&) {
      hearing_.tell([](Listener& listener) { listener.out_of_memory(); });
    } catch (const std::exception& error) {
      // Whoever wanted it is not here, and others wait for what comes after it.
      hearing_.tell([&](Listener& listener) { listener.failed(error.what()); });
    }
}

void MpiNetwork::send(Commands::Message message) {
  if (groups_.by_one_thread && is_other_thread()) {
    static_cast<void>(leaves_it(std::move(message)));
    return;
  }
  if (groups_.by_one_thread) do_what_was_left();
  carry_out(message);
}
void MpiNetwork::expect(const Commands::Expected& expected) {
  if (!leaves_it(expected)) carry_out(expected);
}
void MpiNetwork::send(const Commands::Payload& payload) {
  if (!leaves_it(payload)) carry_out(payload);
}
void MpiNetwork::drop(PayloadId payload) {
  const Drop drop{payload, std::make_shared<std::atomic<bool>>(false)};
  if (!leaves_it(drop)) return carry_out(drop);
  // Nobody may touch its bytes afterwards. Who has nothing more to ask of MPI may not look again at what was left to him.
  while (!drop.done->load() && !is_lost() && end_.load() != End::over) std::this_thread::yield();
}

template <class It>
void MpiNetwork::carry_out(It& it) {
  const std::lock_guard guard(mutex_);
  try {
    if (end_.load() == End::none && !is_lost()) or_broken([&] { ask_for(it); });
  } catch (...) {
    if constexpr (std::is_same_v<std::remove_const_t<It>, Drop>) {
      break_off();  // else its bytes might be touched
      it.done->store(true);
    }
    throw;
  }
  if constexpr (std::is_same_v<std::remove_const_t<It>, Drop>) it.done->store(true);
}

void MpiNetwork::ask_for(Commands::Message& message) {
  std::vector<std::byte> first(1, is_whole);
  if (message.bytes.size() <= short_bytes) {
    first.insert(first.end(), message.bytes.begin(), message.bytes.end());
    return say(message.to, groups_.messages, message_tag, std::move(first));
  }
  if (message.bytes.size() > largest_part) throw SystemError("a message between ranks is longer than 1 GiB");
  const Announcement announcement{.bytes = message.bytes.size(), .tag = tag_of(groups_, long_messages_++)};
  first[0] = announces_long;
  first.resize(1 + sizeof announcement);
  std::memcpy(first.data() + 1, &announcement, sizeof announcement);
  say(message.to, groups_.messages, message_tag, std::move(first));
  say(message.to, groups_.long_messages, announcement.tag, std::move(message.bytes));
}

void MpiNetwork::hear(std::span<const std::byte> short_message, RankId from) {
  tally_.came(MpiTally::Of::messages);
  if (short_message.empty()) return;
  if (short_message[0] == is_whole) return has_heard(from, short_message.subspan(1));
  Announcement announcement;
  std::memcpy(&announcement, short_message.data() + 1, sizeof announcement);
  announced_.push_back({from, announcement.tag, announcement.bytes});
}

void MpiNetwork::has_heard(RankId from, std::span<const std::byte> message) {
  happened_.push_back({.kind = Kind::hears, .from = from, .message = {message.begin(), message.end()}});
}

namespace {
/// As MPI calls them. It keeps them as long as an operation uses them.
class PiecesInMemory {
 public:
  explicit PiecesInMemory(const Layout& layout) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    for (std::uint32_t i = 0; i < layout.pieces; ++i)
      for (Bytes done = 0, bytes = layout.bytes_of(i); done < bytes; done += largest_part) {
        lengths.push_back(count_of(std::min(largest_part, bytes - done)));
        offsets.push_back(static_cast<MPI_Aint>(layout.offset(i) + done));
      }
    check_mpi(
        MPI_Type_create_hindexed(count_of(lengths.size()), lengths.data(), offsets.data(), MPI_BYTE, &type_),
        "describe a part of a value");
    check_mpi(MPI_Type_commit(&type_), "describe a part of a value");
  }
  PiecesInMemory(const PiecesInMemory&) = delete;
  PiecesInMemory& operator=(const PiecesInMemory&) = delete;
  ~PiecesInMemory() { MPI_Type_free(&type_); }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};
}  // namespace

void MpiNetwork::ask_for(const Commands::Expected& expected) {
  auto* place = static_cast<std::byte*>(expected.place);
  if (!expected.layout.whole()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const PiecesInMemory pieces(expected.layout);
    check_mpi(MPI_Irecv(place, 1, pieces.type(), static_cast<int>(expected.from),
                        tag_of(groups_, expected.tag), groups_.payloads, &request),
              "prepare to receive a part of a value");
    requests_.add(request, {.kind = Kind::lands, .other = expected.from, .payload = expected.id});
    return payloads_.add(expected.id, 1);
  }
  std::size_t parts = 0;
  for (Bytes done = 0; done < expected.bytes; done += largest_part, ++parts) {
    const Bytes bytes = std::min(largest_part, expected.bytes - done);
    MPI_Request request = MPI_REQUEST_NULL;
    MpiRequests::Operation operation{.kind = Kind::lands, .other = expected.from, .payload = expected.id};
    const auto receive = [&](void* at) {
      check_mpi(MPI_Irecv(at, count_of(bytes), MPI_BYTE, static_cast<int>(expected.from),
                          tag_of(groups_, expected.tag), groups_.payloads, &request),
                "prepare to receive a value");
    };
    if (expected.memory == nullptr) {
      receive(place + done);
    } else if (!expected.memory->call([&] { receive(place + done); })) {
      operation.bytes.resize(bytes);  // the device is lost; what was asked for comes nevertheless
      receive(operation.bytes.data());
    }
    requests_.add(request, std::move(operation));
  }
  payloads_.add(expected.id, parts, expected.memory);
}

void MpiNetwork::ask_for(const Commands::Payload& payload) {
  const auto* from = static_cast<const std::byte*>(payload.from);
  if (!payload.layout.whole()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const PiecesInMemory pieces(payload.layout);
    check_mpi(MPI_Isend(from, 1, pieces.type(), static_cast<int>(payload.to), tag_of(groups_, payload.tag),
                        groups_.payloads, &request),
              "send a part of a value");
    requests_.add(request, {.kind = Kind::leaves, .other = payload.to, .payload = payload.id});
    tally_.sent(payload.to, MpiTally::Of::payloads);
    return payloads_.add(payload.id, 1);
  }
  std::size_t parts = 0;
  for (Bytes done = 0; done < payload.bytes; done += largest_part, ++parts) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(
        MPI_Isend(from + done, count_of(std::min(largest_part, payload.bytes - done)), MPI_BYTE,
                  static_cast<int>(payload.to), tag_of(groups_, payload.tag), groups_.payloads, &request),
        "send a value");
    requests_.add(request, {.kind = Kind::leaves, .other = payload.to, .payload = payload.id});
    tally_.sent(payload.to, MpiTally::Of::payloads);
  }
  payloads_.add(payload.id, parts);
}

void MpiNetwork::ask_for(const Drop& drop) {
  payloads_.go_on([&] { tally_.came(MpiTally::Of::payloads, requests_.drop(drop.payload)); });
  payloads_.drop(drop.payload);
}

void MpiNetwork::lose(const std::string& why) {
  const std::lock_guard guard(lost_mutex_);
  if (is_lost()) return;
  try {
    why_lost_ = why;
  } catch (const std::bad_alloc&) {
    // The text made beforehand has to do.
  }
  loss_.store(Loss::untold);
}

void MpiNetwork::break_off() noexcept {
  {
    const std::lock_guard guard(lost_mutex_);
    if (is_lost()) return;
    loss_.store(Loss::told);  // the listener knows
  }
  try {
    tell_broken(why_lost_);
  } catch (...) {
    // The others notice when this process ends, which it does: its run has been stopped.
  }
}

bool MpiNetwork::say() {
  if (!has_to_say() || !poked_.exchange(false)) return false;
  hearing_.tell([](Listener& listener) { listener.poked(); });
  return true;
}

bool MpiNetwork::drive() try {
  if (is_other_thread()) return false;
  if (groups_.by_one_thread) do_what_was_left();
  if (is_lost()) [[unlikely]]
    return tell_lost();
  const bool poked = say();  // what goes out first: it is under way while we look
  std::vector<Happened> happened;
  bool worth_telling = false;
  {
    const std::unique_lock guard(mutex_, std::try_to_lock);
    if (!guard.owns_lock() || end_.load() != End::none) return poked;
    or_broken([&] { look(); });
    happened.swap(happened_);
    looks_in_vain_ = happened.empty() && !poked ? looks_in_vain_ + 1 : 0;
    worth_telling = looks_in_vain_ % looks_per_telling == 1;
  }
  if (!happened.empty() || worth_telling)
    hearing_.tell([&](Listener& listener) {
      for (const Happened& it : happened) {
        if (it.kind == Kind::hears) listener.came(it.from, it.message);
        if (it.kind == Kind::lands) listener.landed(it.payload);
        if (it.kind == Kind::leaves) listener.left(it.payload);
      }
      if (worth_telling) listener.nothing_came();
    });
  return poked || !happened.empty();
} catch (const std::bad_alloc&) {  // what MPI has given away is lost
  hearing_.tell([](Listener& listener) { listener.out_of_memory(); });
  throw;
}

bool MpiNetwork::tell_lost() {
  if (!hearing_.is_open()) return false;
  if (Loss untold = Loss::untold; loss_.compare_exchange_strong(untold, Loss::told))
    return hearing_.tell([this](Listener& listener) { listener.lost(why_lost_); });
  return poked_.exchange(false) && hearing_.tell([](Listener& listener) { listener.poked(); });
}

void MpiNetwork::look() {
  const auto over = [this](const MpiRequests::Operation& operation) {
    if (operation.kind == Kind::hears) {
      tally_.came(MpiTally::Of::long_messages);
      return has_heard(operation.other, operation.bytes);
    }
    if (operation.kind == Kind::lands || operation.kind == Kind::unwanted)
      tally_.came(MpiTally::Of::payloads);
    if (operation.kind != Kind::lands && operation.kind != Kind::leaves) return;
    if (payloads_.is_over(operation.payload))
      happened_.push_back({.kind = operation.kind, .payload = operation.payload});
  };
  payloads_.go_on([&] {
    receives_.look([this](std::span<const std::byte> message, RankId from) { hear(message, from); });
    requests_.test(over);
  });
  // Not while what is over is gone through.
  for (const Announced& it : std::exchange(announced_, {})) {
    MpiRequests::Operation operation{
        .kind = Kind::hears, .other = it.from, .bytes = std::vector<std::byte>(it.bytes)};
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(operation.bytes.data(), count_of(it.bytes), MPI_BYTE, static_cast<int>(it.from),
                        it.tag, groups_.long_messages, &request),
              "receive a long message");
    requests_.add(request, std::move(operation));
  }
}

/// A payload for which nobody has a place any more.
void MpiNetwork::receive_unwanted() {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, groups_.payloads, &found, &message, &status),
            "look for what nobody wants");
  if (found == 0) return;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  MpiRequests::Operation operation{.kind = Kind::unwanted,
                                   .bytes = std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Imrecv(operation.bytes.data(), bytes, MPI_BYTE, &message, &request),
            "receive what nobody wants");
  requests_.add(request, std::move(operation));
}

/// What was said arrives; whoever had something of another rank's memory under way has given it up. Nothing is left in MPI.
void MpiNetwork::receive_the_rest() {
  payloads_.go_on([&] { tally_.came(MpiTally::Of::payloads, requests_.drop_payloads()); });
  payloads_ = {};
  MPI_Request others = tally_.exchange(groups_.messages);
  bool all_are_here = false;
  while (!is_lost() && !(all_are_here && tally_.everything_came() && requests_.none())) {
    look();
    happened_.clear();
    if (!all_are_here) {
      int over = 0;
      check_mpi(MPI_Test(&others, &over, MPI_STATUS_IGNORE), "wait for the other ranks' end");
      all_are_here = over != 0;
    } else if (tally_.left(MpiTally::Of::payloads) != 0 && !requests_.some_of(Kind::unwanted)) {
      receive_unwanted();  // one after the other: each takes memory
    }
    std::this_thread::yield();
  }
}

void MpiNetwork::end() {
  if (groups_.by_one_thread && !is_other_thread()) do_what_was_left();
  hearing_.end();  // before the lock: who is told something may want to send
  const std::lock_guard guard(mutex_);
  if (end_.exchange(End::begun) == End::none && hearing_.has_begun())
    or_broken([this] { end_with_others(); });
  end_.store(End::over);
}

void MpiNetwork::end_with_others() {
  if (is_lost()) return;  // the others will not come to an end
  receive_the_rest();
  if (is_lost()) return;
  receives_.end();
  // An MPI has some thousands of them.
  for (MPI_Comm* const group : {&groups_.messages, &groups_.long_messages, &groups_.payloads})
    check_mpi(MPI_Comm_free(group), "free a communicator");
}

}  // namespace fairlead::net
