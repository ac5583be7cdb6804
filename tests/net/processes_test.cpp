// Messages in flight between MPI processes when a network ends or fails. mpirun starts these tests with two ranks; without
// it they do nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/ranks.hpp>

#include <atomic>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/launcher.hpp"
#include "net/network.hpp"

namespace fairlead::net::of_processes {

namespace {

struct Heard final : Network::Listener {
  std::vector<std::string> messages, failures, losses;
  std::map<PayloadId, int> landed_ones, left_ones;
  void came(RankId, std::span<const std::byte> message) override {
    messages.emplace_back(reinterpret_cast<const char*>(message.data()), message.size());
  }
  void landed(PayloadId payload) override { ++landed_ones[payload]; }
  void left(PayloadId payload) override { ++left_ones[payload]; }
  void failed(const std::string& why) override { failures.push_back(why); }
  void lost(const std::string& why) override { losses.push_back(why); }
  void out_of_memory() noexcept override {}
  void poked() override {}
};

/// The network of this process, from its start.
struct OneNetwork {
  using Broken = std::function<void(const std::string&)>;
  explicit OneNetwork(Broken broken = [](const std::string& why) { ADD_FAILURE() << why; })
      : network(launched_rank().network) {
    network->on_broken(std::move(broken));
    network->begin(heard);
  }
  void until(const std::function<bool()>& done) { network->help(done); }
  void say(std::string text) {
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    network->send(EndpointCommands::Message{other(), {first, first + text.size()}});
  }
  RankId own() const { return network->own(); }
  RankId other() const { return RankId{own() == RankId{0} ? 1u : 0u}; }

  Heard heard;
  std::shared_ptr<Network> network;
};

bool runs_here() {
  const auto launched = config::detect_launcher(config::process_environment());
  return launched && launched->ranks == 2;
}

constexpr std::uint64_t same_tag = 7;

/// The program initializes its MPI itself, for calls from one thread only, unless it is initialized already.
class MpiOfOneThread {
 public:
  MpiOfOneThread() {
    const bool mpich = config::detect_launcher(config::process_environment())->mpi_implementation == "mpich";
    library_ = ::dlopen(mpich ? "libmpich.so.12" : "libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (library_ == nullptr) return;
    constexpr int funneled = 1;  // in both MPIs
    int level = 0;
    call<int(int*, char***, int, int*)>("MPI_Init_thread")(nullptr, nullptr, funneled, &level);
    EXPECT_EQ(level, funneled);
  }
  MpiOfOneThread(const MpiOfOneThread&) = delete;
  MpiOfOneThread& operator=(const MpiOfOneThread&) = delete;
  ~MpiOfOneThread() {
    if (library_ != nullptr) call<int()>("MPI_Finalize")();
  }
  bool is_there() const { return library_ != nullptr; }

 private:
  template <class Call>
  Call* call(const char* name) const {
    return reinterpret_cast<Call*>(::dlsym(library_, name));
  }
  void* library_ = nullptr;
};

struct FullDevice final : DeviceMemory {
  bool is_ram() const noexcept override { return false; }
  bool write(void*, const void*, Bytes) override { return true; }
  bool call(const std::function<void()>&) override { throw SystemError("the device is full"); }
};

}  // namespace

// A communicator may get the number of a freed one, and then receives messages sent with that one: the result was wrong.
TEST(Processes, AnUnreceivedValueIsNotReceivedByTheNextNetwork) {
  if (!runs_here()) GTEST_SKIP() << "needs two ranks of mpirun";
  for (const std::size_t size : {std::size_t{1}, std::size_t{700}, std::size_t{40'000}, std::size_t{300'000}})
    for (const bool was_expected : {false, true}) {
      SCOPED_TRACE(std::to_string(size) + (was_expected ? " numbers, expected and dropped" : " numbers"));
      const std::vector<long> old_value(size, 1), new_value(size, 2);
      std::vector<long> old_place(size, 0), new_place(size, 0);
      const Bytes bytes = size * sizeof(long);
      {
        OneNetwork one;
        if (index(one.own()) == 1) {
          one.network->send(
              EndpointCommands::Payload{PayloadId{1}, one.other(), same_tag, old_value.data(), bytes, {}});
        } else if (was_expected) {
          one.network->expect(EndpointCommands::PostedReceive{
              PayloadId{2}, one.other(), same_tag, old_place.data(), bytes, {}, nullptr});
          one.network->drop(PayloadId{2});
        }
        one.network->end();
      }
      OneNetwork one;
      if (index(one.own()) == 0) {
        one.network->expect(EndpointCommands::PostedReceive{
            PayloadId{2}, one.other(), same_tag, new_place.data(), bytes, {}, nullptr});
        one.say("it is needed");
        one.until([&] { return one.heard.landed_ones.contains(PayloadId{2}); });
        EXPECT_EQ(new_place, new_value);
      } else {
        one.until([&] { return !one.heard.messages.empty(); });
        one.network->send(
            EndpointCommands::Payload{PayloadId{1}, one.other(), same_tag, new_value.data(), bytes, {}});
        one.until([&] { return one.heard.left_ones.contains(PayloadId{1}); });
      }
      one.network->end();
    }
}

TEST(Processes, MessagesAtTheEndAreNotReceivedByTheNextNetwork) {
  if (!runs_here()) GTEST_SKIP() << "needs two ranks of mpirun";
  for (const std::size_t length : {std::size_t{10}, std::size_t{9000}}) {
    {
      OneNetwork one;
      for (int i = 0; i < 200; ++i) one.say(std::string(length, 'o'));
      one.network->end();
    }
    OneNetwork one;
    one.say("new");
    one.until([&] { return !one.heard.messages.empty(); });
    EXPECT_EQ(one.heard.messages, std::vector<std::string>{"new"});
    one.network->end();
  }
}

TEST(Processes, AnMpiErrorIsReportedOnceAndMpiIsNotCalledAgain) {
  if (!runs_here()) GTEST_SKIP() << "needs two ranks of mpirun";
  const long value = 1;
  const EndpointCommands::Payload to_unknown_rank{PayloadId{1}, RankId{99},   same_tag,
                                                  &value,       sizeof value, {}};
  int broken = 0;
  OneNetwork one([&](const std::string&) { ++broken; });
  one.network->send(to_unknown_rank);
  one.until([&] { return !one.heard.losses.empty(); });
  ASSERT_EQ(one.heard.losses.size(), 1U);
  EXPECT_TRUE(one.heard.losses.front().starts_with("MPI could not send a value: "))
      << one.heard.losses.front();
  one.network->send(to_unknown_rank);
  one.network->drop(PayloadId{1});
  one.say("nothing");
  one.network->poll();
  if (index(one.own()) == 0)
    one.network->end();  // the other rank does not end, and this one does not wait for it
  one.network->poll();
  EXPECT_EQ(broken, 1);
  EXPECT_EQ(one.heard.losses.size(), 1U);
  EXPECT_TRUE(one.heard.messages.empty());
}

// In a process of its own: MPI can be initialized only once.
TEST(ProcessesOfOneThread, OperationsOfOtherThreadsAreDoneOrCancelled) {
  if (!runs_here()) GTEST_SKIP() << "needs two ranks of mpirun";
  const MpiOfOneThread mpi;
  if (!mpi.is_there()) GTEST_SKIP() << "the MPI's library has another name here";
  FullDevice device;
  std::vector<long> place(10);
  const Bytes bytes = place.size() * sizeof(long);
  OneNetwork one;
  ASSERT_TRUE(one.network->driven_by_one_thread());
  const auto drop = [&] { one.network->drop(PayloadId{2}); };
  std::atomic<bool> dropped{false};
  std::thread other([&] {
    one.network->expect(EndpointCommands::PostedReceive{
        PayloadId{1}, one.other(), same_tag, place.data(), bytes, {}, &device});
    one.network->expect(EndpointCommands::PostedReceive{
        PayloadId{2}, one.other(), same_tag + 1, place.data(), bytes, {}, nullptr});
    drop();  // although the first one fails
    dropped.store(true);
  });
  one.until([&] { return dropped.load(); });
  other.join();
  EXPECT_EQ(one.heard.failures, std::vector<std::string>{"the device is full"});
  one.network->end();
  std::thread(drop).join();  // no thread serves the remaining operations now
}

}  // namespace fairlead::net::of_processes
