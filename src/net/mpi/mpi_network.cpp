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
// Enough for most messages: an activate with a few outputs has 60 bytes.
constexpr std::size_t short_bytes = 4096;
// MPI buffers messages beyond these.
constexpr std::size_t receives = 16;
constexpr unsigned polls_per_report = 16;  // reports that nothing came, which read the clock
constexpr int message_tag = 1;
constexpr Bytes largest_part = Bytes{1} << 30;  // MPI counts elements by int
// Values of the first byte of a short message.
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

/// After a failure MPI may fail again, or wait for ranks that never come: no further calls.
template <class Ask>
void MpiNetwork::or_broken(const Ask& ask) {
  try {
    ask();
  } catch (const MpiError& error) {
    if (is_lost()) return;  // MPI may have noticed the loss as well
    lose(error.what());
    report_broken(error.what());
  }
}

void MpiNetwork::begin(Listener& listener) {
  if (is_other_thread())
    throw SystemError(
        "this MPI may be called only by the thread that has initialized it: that thread must create the "
        "runtime and wait for it");
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
  requests_.add(request, {.kind = Kind::send, .other = to, .bytes = std::move(bytes)});
  tally_.sent(to, by == groups_.messages ? MpiTally::Of::messages : MpiTally::Of::long_messages);
}

bool MpiNetwork::queue_for_mpi_thread(PendingOperation wanted) {
  if (!groups_.by_one_thread) return false;
  if (!is_other_thread()) {
    run_queued();  // keeps the order
    return false;
  }
  const std::lock_guard guard(left_mutex_);
  left_.push_back(std::move(wanted));
  return true;
}

void MpiNetwork::run_queued() {
  std::deque<PendingOperation> left;
  {
    const std::lock_guard guard(left_mutex_);
    left.swap(left_);
  }
  for (PendingOperation& wanted : left) try {
      std::visit([this](auto& it) { carry_out(it); }, wanted);
    } catch (const std::bad_alloc&) {
      hearing_.notify([](Listener& listener) { listener.out_of_memory(); });
    } catch (const std::exception& error) {
      // The caller has gone on, and later operations must not be lost.
      hearing_.notify([&](Listener& listener) { listener.failed(error.what()); });
    }
}

void MpiNetwork::send(EndpointCommands::Message message) {
  if (groups_.by_one_thread && is_other_thread()) {
    static_cast<void>(queue_for_mpi_thread(std::move(message)));
    return;
  }
  if (groups_.by_one_thread) run_queued();
  carry_out(message);
}
void MpiNetwork::expect(const EndpointCommands::PostedReceive& expected) {
  if (!queue_for_mpi_thread(expected)) carry_out(expected);
}
void MpiNetwork::send(const EndpointCommands::Payload& payload) {
  if (!queue_for_mpi_thread(payload)) carry_out(payload);
}
void MpiNetwork::drop(PayloadId payload) {
  const Drop drop{payload, std::make_shared<std::atomic<bool>>(false)};
  if (!queue_for_mpi_thread(drop)) return carry_out(drop);
  // The caller reuses the bytes afterwards, so it waits for the drop. After a loss or end() MPI's thread may never
  // serve it, and touches no bytes.
  while (!drop.done->load() && !is_lost() && end_.load() != End::over) std::this_thread::yield();
}

template <class It>
void MpiNetwork::carry_out(It& it) {
  const std::lock_guard guard(mutex_);
  try {
    if (end_.load() == End::none && !is_lost()) or_broken([&] { ask_for(it); });
  } catch (...) {
    if constexpr (std::is_same_v<std::remove_const_t<It>, Drop>) {
      abort_out_of_memory();  // stops all calls of MPI, so that the bytes are not used
      it.done->store(true);
    }
    throw;
  }
  if constexpr (std::is_same_v<std::remove_const_t<It>, Drop>) it.done->store(true);
}

void MpiNetwork::ask_for(EndpointCommands::Message& message) {
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
  happened_.push_back({.kind = Kind::receive, .from = from, .message = {message.begin(), message.end()}});
}

namespace {
/// A ValueLayout as an MPI datatype. MPI keeps it while an operation uses it.
class PiecesInMemory {
 public:
  explicit PiecesInMemory(const ValueLayout& layout) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> offsets;
    for (std::uint32_t i = 0; i < layout.pieces; ++i)
      for (Bytes done = 0, bytes = layout.bytes_of(i); done < bytes; done += largest_part) {
        lengths.push_back(count_of(std::min(largest_part, bytes - done)));
        offsets.push_back(static_cast<MPI_Aint>(layout.offset(i) + done));
      }
    check_mpi(
        MPI_Type_create_hindexed(count_of(lengths.size()), lengths.data(), offsets.data(), MPI_BYTE, &type_),
        "describe a chunk of a value");
    check_mpi(MPI_Type_commit(&type_), "describe a chunk of a value");
  }
  PiecesInMemory(const PiecesInMemory&) = delete;
  PiecesInMemory& operator=(const PiecesInMemory&) = delete;
  ~PiecesInMemory() { MPI_Type_free(&type_); }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};
}  // namespace

void MpiNetwork::ask_for(const EndpointCommands::PostedReceive& expected) {
  auto* place = static_cast<std::byte*>(expected.place);
  if (!expected.layout.whole()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const PiecesInMemory pieces(expected.layout);
    check_mpi(MPI_Irecv(place, 1, pieces.type(), static_cast<int>(expected.from),
                        tag_of(groups_, expected.tag), groups_.payloads, &request),
              "prepare to receive a chunk of a value");
    requests_.add(request, {.kind = Kind::receive_part, .other = expected.from, .payload = expected.id});
    return payloads_.add(expected.id, 1);
  }
  std::size_t parts = 0;
  for (Bytes done = 0; done < expected.bytes; done += largest_part, ++parts) {
    const Bytes bytes = std::min(largest_part, expected.bytes - done);
    MPI_Request request = MPI_REQUEST_NULL;
    MpiRequests::Operation operation{
        .kind = Kind::receive_part, .other = expected.from, .payload = expected.id};
    const auto receive = [&](void* at) {
      check_mpi(MPI_Irecv(at, count_of(bytes), MPI_BYTE, static_cast<int>(expected.from),
                          tag_of(groups_, expected.tag), groups_.payloads, &request),
                "prepare to receive a value");
    };
    if (expected.memory == nullptr) {
      receive(place + done);
    } else if (!expected.memory->call([&] { receive(place + done); })) {
      operation.bytes.resize(bytes);  // the device is lost, but the requested payload still comes
      receive(operation.bytes.data());
    }
    requests_.add(request, std::move(operation));
  }
  payloads_.add(expected.id, parts, expected.memory);
}

void MpiNetwork::ask_for(const EndpointCommands::Payload& payload) {
  const auto* from = static_cast<const std::byte*>(payload.from);
  if (!payload.layout.whole()) {
    MPI_Request request = MPI_REQUEST_NULL;
    const PiecesInMemory pieces(payload.layout);
    check_mpi(MPI_Isend(from, 1, pieces.type(), static_cast<int>(payload.to), tag_of(groups_, payload.tag),
                        groups_.payloads, &request),
              "send a chunk of a value");
    requests_.add(request, {.kind = Kind::send_part, .other = payload.to, .payload = payload.id});
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
    requests_.add(request, {.kind = Kind::send_part, .other = payload.to, .payload = payload.id});
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
    // The default text remains.
  }
  loss_.store(Loss::unreported);
}

void MpiNetwork::abort_out_of_memory() noexcept {
  {
    const std::lock_guard guard(lost_mutex_);
    if (is_lost()) return;
    loss_.store(Loss::reported);  // the listener has reported it itself
  }
  try {
    report_broken(why_lost_);
  } catch (...) {
    // The others notice when this process ends; its run has been stopped.
  }
}

bool MpiNetwork::deliver_poke() {
  if (!has_poke() || !poked_.exchange(false)) return false;
  hearing_.notify([](Listener& listener) { listener.poked(); });
  return true;
}

bool MpiNetwork::poll() try {
  if (is_other_thread()) return false;
  if (groups_.by_one_thread) run_queued();
  if (is_lost()) [[unlikely]]
    return report_loss();
  const bool poked = deliver_poke();  // sends first: these are in flight while MPI is polled
  std::vector<MpiEvent> happened;
  bool report_empty = false;
  {
    const std::unique_lock guard(mutex_, std::try_to_lock);
    if (!guard.owns_lock() || end_.load() != End::none) return poked;
    or_broken([&] { look(); });
    happened.swap(happened_);
    empty_polls_ = happened.empty() && !poked ? empty_polls_ + 1 : 0;
    report_empty = empty_polls_ % polls_per_report == 1;
  }
  if (!happened.empty() || report_empty)
    hearing_.notify([&](Listener& listener) {
      for (const MpiEvent& it : happened) {
        if (it.kind == Kind::receive) listener.came(it.from, it.message);
        if (it.kind == Kind::receive_part) listener.landed(it.payload);
        if (it.kind == Kind::send_part) listener.left(it.payload);
      }
      if (report_empty) listener.nothing_received();
    });
  return poked || !happened.empty();
} catch (const std::bad_alloc&) {  // completed operations are lost
  hearing_.notify([](Listener& listener) { listener.out_of_memory(); });
  throw;
}

bool MpiNetwork::report_loss() {
  if (!hearing_.is_open()) return false;
  if (Loss untold = Loss::unreported; loss_.compare_exchange_strong(untold, Loss::reported))
    return hearing_.notify([this](Listener& listener) { listener.lost(why_lost_); });
  return poked_.exchange(false) && hearing_.notify([](Listener& listener) { listener.poked(); });
}

void MpiNetwork::look() {
  const auto over = [this](const MpiRequests::Operation& operation) {
    if (operation.kind == Kind::receive) {
      tally_.came(MpiTally::Of::long_messages);
      return has_heard(operation.other, operation.bytes);
    }
    if (operation.kind == Kind::receive_part || operation.kind == Kind::dropped_receive)
      tally_.came(MpiTally::Of::payloads);
    if (operation.kind != Kind::receive_part && operation.kind != Kind::send_part) return;
    if (payloads_.is_over(operation.payload))
      happened_.push_back({.kind = operation.kind, .payload = operation.payload});
  };
  payloads_.go_on([&] {
    receives_.look([this](std::span<const std::byte> message, RankId from) { hear(message, from); });
    requests_.test(over);
  });
  // Outside of the loops over completed operations.
  for (const Announced& it : std::exchange(announced_, {})) {
    MpiRequests::Operation operation{
        .kind = Kind::receive, .other = it.from, .bytes = std::vector<std::byte>(it.bytes)};
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(operation.bytes.data(), count_of(it.bytes), MPI_BYTE, static_cast<int>(it.from),
                        it.tag, groups_.long_messages, &request),
              "receive a long message");
    requests_.add(request, std::move(operation));
  }
}

/// Receives a payload that was dropped here.
void MpiNetwork::receive_unwanted() {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, groups_.payloads, &found, &message, &status),
            "look for unexpected messages");
  if (found == 0) return;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  MpiRequests::Operation operation{.kind = Kind::dropped_receive,
                                   .bytes = std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Imrecv(operation.bytes.data(), bytes, MPI_BYTE, &message, &request),
            "receive an unexpected message");
  requests_.add(request, std::move(operation));
}

/// Waits until sent messages have arrived; transfers with the memory of other ranks are cancelled. Nothing is left in
/// MPI.
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
      check_mpi(MPI_Test(&others, &over, MPI_STATUS_IGNORE), "wait until the other ranks end");
      all_are_here = over != 0;
    } else if (tally_.left(MpiTally::Of::payloads) != 0 && !requests_.some_of(Kind::dropped_receive)) {
      receive_unwanted();  // one at a time: each takes memory
    }
    std::this_thread::yield();
  }
}

void MpiNetwork::end() {
  if (groups_.by_one_thread && !is_other_thread()) run_queued();
  hearing_.end();  // before the lock: a listener may send
  const std::lock_guard guard(mutex_);
  if (end_.exchange(End::begun) == End::none && hearing_.has_begun())
    or_broken([this] { end_with_others(); });
  end_.store(End::over);
}

void MpiNetwork::end_with_others() {
  if (is_lost()) return;  // the other ranks will not reach their end
  receive_the_rest();
  if (is_lost()) return;
  receives_.end();
  // MPI implementations limit them to some thousands.
  for (MPI_Comm* const group : {&groups_.messages, &groups_.long_messages, &groups_.payloads})
    check_mpi(MPI_Comm_free(group), "free a communicator");
}

}  // namespace fairlead::net
