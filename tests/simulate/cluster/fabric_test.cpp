// Payloads on a simulated network, with times computed by hand: links are shared, directions are not.
#include "simulate/cluster/fabric.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <array>
#include <map>

#include "simulate/cluster/made_up.hpp"

namespace fairlead::simulate {
namespace {

constexpr Bytes megabyte = 1'000'000;
constexpr std::int64_t millisecond = 1'000'000;

/// Ranks that only record arrivals of payloads.
class Network {
 public:
  explicit Network(const std::string& keys)
      : turns_(timeline_, 4),
        fabric_(
            turns_, made_up_cluster(4, keys).network, 4, [](std::uint32_t, bool) {},
            [this](std::uint32_t rank) { return computing_[rank]; }) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      heard_[i].of = this;
      ends_.push_back(fabric_.end_of(net::RankId{i}));
      ends_.back()->begin(heard_[i]);
    }
  }
  void send(std::uint32_t from, std::uint32_t to, Bytes bytes = megabyte) {
    const std::uint64_t tag = next_++;
    const net::PayloadId at_sender{2 * tag}, at_receiver{2 * tag + 1};
    ends_[to]->expect({at_receiver, net::RankId{from}, tag, nullptr, bytes});
    ends_[from]->send(net::EndpointCommands::Payload{at_sender, net::RankId{to}, tag, nullptr, bytes});
  }
  void say(std::uint32_t from, std::uint32_t to) {
    ends_[from]->send(net::EndpointCommands::Message{net::RankId{to}, std::vector<std::byte>(100)});
  }
  void computes(std::uint32_t rank, bool does) {
    computing_[rank] = does;
    if (!does) fabric_.between_tasks(rank);
  }
  void run() {
    while (timeline_.step()) {
    }
  }
  /// The arrival times of the payloads, in the order of sending.
  std::int64_t landed(std::uint64_t tag) const { return came_.at(2 * tag + 1); }
  std::int64_t left(std::uint64_t tag) const { return came_.at(2 * tag); }
  bool has_landed(std::uint64_t tag) const { return came_.contains(2 * tag + 1); }
  std::int64_t message() const { return message_; }
  std::int64_t now() const { return timeline_.now().count(); }
  std::int64_t speaks_until(std::uint32_t rank) const { return fabric_.thread_busy_until(rank).count(); }
  bool keeps_workers() const { return fabric_.workers_communicate(); }

 private:
  struct Heard : net::Network::Listener {
    Network* of = nullptr;
    void came(net::RankId, std::span<const std::byte>) override {
      of->message_ = of->timeline_.now().count();
    }
    void landed(net::PayloadId id) override { note(id); }
    void left(net::PayloadId id) override { note(id); }
    void poked() override {}
    void lost(const std::string&) override {}
    void out_of_memory() noexcept override {}
    void note(net::PayloadId id) { of->came_[static_cast<std::uint64_t>(id)] = of->timeline_.now().count(); }
  };
  backend::Timeline timeline_;
  RankScheduler turns_;
  SimulatedNetwork fabric_;
  std::array<bool, 4> computing_{};
  std::array<Heard, 4> heard_;
  std::vector<std::shared_ptr<net::Network>> ends_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::int64_t> came_;
  std::int64_t message_ = 0;
};

const std::string plain = "bandwidth = \"1GB/s\"\nlatency_microseconds = 0\n";

TEST(SimulatedNetwork, APayloadTakesItsLatencyAndItsBytesTime) {
  Network network("bandwidth = \"1GB/s\"\nlatency_microseconds = 10\n");
  network.send(0, 1);
  network.run();
  EXPECT_EQ(network.left(0), millisecond);
  EXPECT_EQ(network.landed(0), millisecond + 10'000);
}

TEST(SimulatedNetwork, TwoOutOfOneInterfaceFollowEachOther) {
  Network network(plain);
  network.send(0, 1);
  network.send(0, 2);
  network.run();
  EXPECT_EQ(network.landed(0), millisecond);
  EXPECT_EQ(network.landed(1), 2 * millisecond);
}

TEST(SimulatedNetwork, TwoIntoOneInterfaceFollowEachOther) {
  Network network(plain);
  network.send(0, 2);
  network.send(1, 2);
  network.run();
  EXPECT_EQ(network.landed(0), millisecond);
  EXPECT_EQ(network.landed(1), 2 * millisecond);
  EXPECT_EQ(network.left(1), millisecond);
}

TEST(SimulatedNetwork, DirectionsAreSharedOnlyIfTheInterfaceIsNotDuplex) {
  for (const bool duplex : {true, false}) {
    Network network(plain + (duplex ? "" : "duplex = false\n"));
    network.send(0, 1);
    network.send(1, 0);
    network.run();
    // Each of the two carries two megabytes.
    EXPECT_EQ(network.landed(0), duplex ? millisecond : 2 * millisecond);
    EXPECT_EQ(network.landed(1), duplex ? millisecond : 2 * millisecond);
  }
}

TEST(SimulatedNetwork, SeveralInterfacesShareAPayload) {
  Network network(plain + "interfaces = 2\n");
  network.send(0, 1);
  network.run();
  EXPECT_EQ(network.landed(0), millisecond / 2);
}

TEST(SimulatedNetwork, PayloadsBetweenSwitchesShareTheirLink) {
  Network network(plain + "nodes_per_switch = 2\nswitch_bandwidth = \"1GB/s\"\n");
  network.send(0, 2);
  network.send(1, 3);
  network.send(3, 2);  // at one switch; into the interface of 2
  network.run();
  EXPECT_EQ(network.landed(1), 2 * millisecond);
  EXPECT_EQ(std::max(network.landed(0), network.landed(2)), 2 * millisecond);
  Network narrow(plain + "nodes_per_switch = 2\nswitch_bandwidth = \"250MB/s\"\n");
  narrow.send(0, 3);
  narrow.send(0, 1);
  narrow.run();
  EXPECT_EQ(narrow.landed(0), 4 * millisecond);
  EXPECT_EQ(narrow.landed(1), 2 * millisecond);
}

TEST(SimulatedNetwork, MessagesDoNotWaitForPayloads) {
  Network network(plain);
  network.send(0, 1);
  network.say(0, 1);
  network.run();
  EXPECT_EQ(network.message(), 200);  // 100 ns out, 100 ns in
}

TEST(SimulatedNetwork, MessagesWaitForPayloadsBeforeThemIfTheyKeepTheirOrder) {
  Network network(plain + "in_order = true\n");
  network.say(0, 1);
  network.run();
  EXPECT_EQ(network.message(), 100);  // it goes in while it comes out
  network.send(0, 1);
  network.say(0, 1);
  network.run();
  EXPECT_EQ(network.message(), 100 + millisecond + 100);
}

TEST(SimulatedNetwork, AComputingThreadReceivesBetweenTasksWithoutACommunicationThread) {
  for (const bool between : {true, false}) {
    Network network(plain + (between ? "heard_between_tasks = true\n" : ""));
    network.computes(1, true);
    network.send(0, 1);
    network.say(0, 1);
    network.run();
    EXPECT_EQ(network.has_landed(0), !between);
    EXPECT_EQ(network.message() != 0, !between);
    network.computes(1, false);
    network.run();
    EXPECT_EQ(network.landed(0), millisecond + 100);  // the message passed by
    EXPECT_NE(network.message(), 0);
  }
}

TEST(SimulatedNetwork, TheCommunicationThreadTakesTimeForEachMessage) {
  Network network(plain + "message_microseconds = 3\n");
  network.say(0, 1);
  network.say(0, 1);
  network.run();
  EXPECT_EQ(network.message(), 6'000 + 200 + 3'000);
}

TEST(SimulatedNetwork, TheCommunicationThreadTakesTimeForEachByte) {
  Network network(plain + "byte_nanoseconds = 2\n");
  network.send(0, 1);
  network.send(0, 2);
  network.run();
  // Half as fast as the wire; the other side copies while it receives.
  EXPECT_EQ(network.left(0), 2 * millisecond);
  EXPECT_EQ(network.landed(0), 2 * millisecond);
  EXPECT_EQ(network.landed(1), 4 * millisecond);
  EXPECT_EQ(network.speaks_until(0), 4 * millisecond);
  EXPECT_EQ(network.speaks_until(1), 2 * millisecond);
  EXPECT_FALSE(network.keeps_workers());
}

TEST(SimulatedNetwork, AComputingThreadCopiesBetweenTasks) {
  Network network(plain + "byte_nanoseconds = 2\nmessage_microseconds = 3\nheard_between_tasks = true\n");
  EXPECT_TRUE(network.keeps_workers());
  network.computes(1, true);
  network.send(0, 1);
  network.run();
  EXPECT_EQ(network.now(), 2 * millisecond + 3'000);  // the last byte has left
  EXPECT_FALSE(network.has_landed(0));
  network.computes(1, false);
  EXPECT_EQ(network.speaks_until(1), 4 * millisecond + 6'000);
  network.run();
  EXPECT_EQ(network.landed(0), 4 * millisecond + 6'000);
}

TEST(SimulatedNetwork, SendsWhileAllComputeAreCharged) {
  Network network(plain + "byte_nanoseconds = 2\nheard_between_tasks = true\n");
  network.computes(0, true);
  network.send(0, 1);
  network.run();
  network.computes(0, false);
  EXPECT_EQ(network.now(), 2 * millisecond);
  EXPECT_EQ(network.speaks_until(0), 4 * millisecond);
}

TEST(Turns, ReportThatNoEventIsLeft) {
  backend::Timeline timeline;
  RankScheduler turns(timeline, 2);
  bool said = false;
  EXPECT_THROW(turns.run([&](std::size_t i) {
    if (i == 0) turns.wait(0, [&] { return said; });
    turns.wait(i, [] { return false; });
  }),
               Error);
}

// A communicator that waits for ranks that no longer answer must not wait after that.
TEST(Turns, HelpEndsWithAnErrorUnlessItIsDone) {
  backend::Timeline timeline;
  RankScheduler turns(timeline, 2);
  SimulatedNetwork fabric(
      turns, made_up_cluster(2, "bandwidth = \"1GB/s\"\nlatency_microseconds = 10\n").network, 2,
      [](std::uint32_t, bool) {}, [](std::uint32_t) { return false; });
  bool said = false;
  EXPECT_THROW(turns.run([&](std::size_t i) {
    const auto end = fabric.end_of(net::RankId{static_cast<std::uint32_t>(i)});
    said = true;
    end->help([&] { return said; });
    end->help([] { return false; });
  }),
               Error);
}

TEST(Turns, AlternateBetweenPrograms) {
  backend::Timeline timeline;
  RankScheduler turns(timeline, 3);
  std::vector<std::size_t> order;
  std::size_t next = 2;
  turns.run([&](std::size_t i) {
    turns.wait(i, [&] { return next == i; });
    order.push_back(i);
    next = i - 1;
    if (i > 0) turns.notify(i - 1);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 1, 0}));
}

}  // namespace
}  // namespace fairlead::simulate
