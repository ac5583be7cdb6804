// A communicator whose network or client fails: the other ranks are notified, no rank waits for ever, and no rank reads
// memory that is freed.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "net/communicator.hpp"
#include "net/network_thread.hpp"

namespace fairlead::net {
namespace {

/// A network of one rank, on the calling thread, which records the messages that it sends.
class Wire : public Network {
 public:
  explicit Wire(std::uint32_t own, std::uint32_t ranks = 3) : own_(own), ranks_(ranks) {}
  RankId own() const noexcept override { return RankId{own_}; }
  std::uint32_t ranks() const noexcept override { return ranks_; }
  std::string description() const override { return "a wire"; }
  std::string why_not_into_devices() const override { return {}; }
  void begin(Listener& listener) override { listener_ = &listener; }
  void poke() override { listener_->poked(); }
  void end() override { ended = true; }
  void expect(const EndpointCommands::PostedReceive&) override {}
  void send(EndpointCommands::Message message) override {
    if (std::exchange(breaks, false)) throw SystemError("the cable is out");
    if (no_memory) throw std::bad_alloc();
    sent.push_back(std::move(message));
  }
  void send(const EndpointCommands::Payload& payload) override { under_way.push_back(payload.id); }
  void drop(PayloadId payload) override {
    EXPECT_FALSE(ended);
    std::erase(under_way, payload);
  }
  void abort_out_of_memory() noexcept override { broken_off = true; }

  void comes(std::uint32_t from, const Message& message) { listener_->came(RankId{from}, bytes_of(message)); }
  /// The ranks that were notified of a failure with this text.
  std::vector<RankId> notified_of(const std::string& why) const {
    std::vector<RankId> notified;
    for (const EndpointCommands::Message& message : sent)
      if (const auto is = message_of(message.bytes); is && std::holds_alternative<Failed>(*is)) {
        EXPECT_EQ(std::get<Failed>(*is).text, why);
        notified.push_back(message.to);
      }
    return notified;
  }

  bool breaks = false;     // with the next message
  bool no_memory = false;  // for any message after that
  bool ended = false, broken_off = false;
  std::vector<EndpointCommands::Message> sent;
  std::vector<PayloadId> under_way;

 private:
  const std::uint32_t own_, ranks_;
  Listener* listener_ = nullptr;
};

struct Graph final : Client {
  void allocate_place(const EndpointCommands::Place&) override {}
  void read(const EndpointCommands::Read& read) override {
    if (on_read) on_read(read);
  }
  void arrived(const EndpointCommands::Arrived&) override {}
  void sent(const EndpointCommands::Sent&) override {}
  void failed(const std::string& why) override {
    heard = why;
    if (throws) throw std::runtime_error("there is no memory");
  }
  void out_of_memory() noexcept override { ++without_memory; }
  int without_memory = 0;
  bool throws = false;
  std::string heard;
  std::function<void(const EndpointCommands::Read&)> on_read;
};
constexpr GraphRun first{0, 0}, second{1, 0};
constexpr std::uint64_t fingerprint = 77;
constexpr TransitLimits room{.in_transit = Bytes{1} << 20};

TEST(Communicator, NotifiesOtherRanksOfItsFailure) {
  const auto wire = std::make_shared<Wire>(1);
  Graph graph;
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, graph);
  wire->breaks = true;
  communicator.send_note(RankId{0}, {});
  EXPECT_EQ(wire->notified_of("the cable is out"), (std::vector{RankId{0}, RankId{2}}));
  EXPECT_EQ(graph.heard, "the cable is out");
}

TEST(Communicator, NotifiesAClientOfAFailureEvenIfAnotherOneThrows) {
  const auto wire = std::make_shared<Wire>(1);
  Graph deaf, graph;
  deaf.throws = true;
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, deaf);
  communicator.begin(second, fingerprint, room, graph);
  communicator.fail("the disk is full");
  EXPECT_EQ(graph.heard, "the disk is full");
  EXPECT_EQ(wire->notified_of("the disk is full"), (std::vector{RankId{0}, RankId{2}}));
  EXPECT_TRUE(communicator.moved().has_value());  // no thread is serving it
}

TEST(Communicator, AbortsIfThereIsNoMemoryForTheNotification) {
  const auto wire = std::make_shared<Wire>(1);
  Graph graph, late;
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, graph);
  wire->breaks = wire->no_memory = true;
  communicator.send_note(RankId{0}, {});
  EXPECT_EQ(graph.heard, "the cable is out");
  EXPECT_EQ(graph.without_memory, 1);
  EXPECT_TRUE(wire->broken_off);
  wire->comes(0, Closed{});  // no effect
  EXPECT_TRUE(communicator.is_quiescent());
  communicator.begin(second, fingerprint, room, late);
  EXPECT_EQ(late.without_memory, 1);
  communicator.end(second);
  communicator.end(first);
}  // and does not wait

TEST(Communicator, EndsARunEvenIfItsEndCannotBeSent) {
  const auto wire = std::make_shared<Wire>(1);
  Graph graph, other;
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, graph);
  communicator.begin(second, fingerprint, room, other);
  wire->breaks = true;  // with the message that the run has ended here
  communicator.end(first);
  EXPECT_EQ(graph.heard, "");  // the client may be destroyed
  EXPECT_EQ(other.heard, "the cable is out");
}

TEST(Communicator, DoesNotReadMemoryOfAFailedRank) {
  const auto wire = std::make_shared<Wire>(0);
  std::vector<double> value(1000);
  Graph graph;
  {
    Communicator communicator(wire, {});
    graph.on_read = [&](const EndpointCommands::Read& read) {
      if (!read.release) communicator.readable(read.id, value.data());
    };
    communicator.begin(first, fingerprint, room, graph);
    communicator.task_finished(first, 5, {{.value = 1, .bytes = 8000, .to = {RankId{1}}}});
    wire->comes(1, Request{.of = first, .task = 5, .first_tag = 1, .outputs = 1});
    EXPECT_EQ(wire->under_way.size(), 1u);
    communicator.fail("the disk is full");
  }
  EXPECT_TRUE(wire->under_way.empty());
  EXPECT_TRUE(wire->ended);
}

/// A network whose thread would poll it for ever.
class Driven final : public Wire {
 public:
  using Wire::Wire;
  bool needs_polling() const noexcept override { return true; }
};

TEST(Communicator, IgnoresItsNetworkAfterItIsDestroyedDuringARun) {
  const auto wire = std::make_shared<Driven>(1);
  Graph graph;
  const NetworkThread thread(wire, [](std::exception_ptr) { FAIL(); });
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, graph);
  communicator.fail("the disk is full");
  EXPECT_TRUE(wire->is_active());
}  // and the thread ends

/// A network that fails when it is polled while a thread waits for it.
class Broken final : public Wire {
 public:
  using Wire::Wire;
  bool needs_polling() const noexcept override { return true; }
  void poke() override {}  // it is never polled
  using Wire::send;
  void send(EndpointCommands::Message message) override {
    sends.store(true);
    while (!driven.load()) std::this_thread::yield();
    Wire::send(std::move(message));
  }
  bool poll() override {
    driven.store(true);
    throw SystemError("the cable is out");
  }
  std::atomic<bool> sends{false}, driven{false};
};

TEST(Communicator, EndsARunEvenIfTheNetworkFailsInTheMeantime) {
  const auto wire = std::make_shared<Broken>(1);
  auto graph = std::make_unique<Graph>();
  Graph other_graph;
  Communicator communicator(wire, {});
  communicator.begin(first, fingerprint, room, *graph);
  communicator.begin(second, fingerprint, room, other_graph);
  communicator.send_note(RankId{0}, {});
  std::thread other(
      [&] { communicator.on_note({}); });  // serves the network, so that the end is left to this thread
  while (!wire->sends.load()) std::this_thread::yield();
  communicator.end(first);
  graph.reset();  // its last use has ended
  other.join();
  EXPECT_EQ(wire->notified_of("the cable is out"), (std::vector{RankId{0}, RankId{2}}));
  EXPECT_EQ(other_graph.heard, "the cable is out");
  communicator.expect(second, 5);  // left to the network's thread, although it does not run
}  // and this throws no exception either

}  // namespace
}  // namespace fairlead::net
