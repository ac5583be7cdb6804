// Ranks with unequal memory: the memory of the receiver limits eager sends.
#include <gtest/gtest.h>
#include <fairlead/flow.hpp>
#include <fairlead/messages.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "front/runtime/runtime_access.hpp"
#include "net/communicator.hpp"
#include "on_ranks.hpp"

namespace fairlead::unequal_memory {
namespace {

using Numbers = Vector<double>;
constexpr std::int64_t numbers = 1024;
constexpr Bytes bytes = numbers * sizeof(double);
constexpr std::uint32_t large = 0, small = 1;  // 64 KiB may travel along to the one, 16 KiB to the other
constexpr int count = 8;

std::vector<Handle<Numbers>> vectors(Runtime& runtime) {
  std::vector<Handle<Numbers>> made;
  for (int i = 0; i < count; ++i) made.push_back(runtime.vector<double>("v", numbers));
  return made;
}
void send_all(Runtime& runtime, std::uint32_t to) {
  const auto set = codelet("set").cpu([](Out<Numbers> v) {
    for (std::int64_t k = 0; k < v.size(); ++k) v(k) = 1;
  });
  Flow flow(runtime);
  const auto made = vectors(runtime);
  for (const auto& handle : made) {
    flow.submit(set(handle));
    send_detached(runtime, handle, to);
  }
  flow.wait();
}
void receive_all(Runtime& runtime, std::uint32_t from) {
  for (const auto& handle : vectors(runtime)) receive_detached(runtime, handle, from);
}

TEST(RanksOfUnequalMemory, LimitEagerSendsByTheMemoryOfTheReceiver) {
  std::atomic<bool> all_announced{false};
  Bytes along_to_small = 0, along_to_large = 0;
  const auto config_of = [](std::uint32_t rank) {
    Config config;
    config.set("workers", 1);
    config.set("memory", rank == large ? "16MiB" : "1MiB");
    config.set("eager-limit", bytes);
    return config;
  };
  const auto thrown = tests::on_ranks(2, config_of, [&](Runtime& runtime) {
    const auto traffic = [&] { return front::communicator_of(runtime)->traffic(); };
    if (runtime.rank() == large) {
      send_all(runtime, small);
      while (traffic().activates < count) std::this_thread::yield();
      along_to_small = traffic().eager_bytes;
      all_announced.store(true);
      receive_all(runtime, small);
    } else {
      while (!all_announced.load()) std::this_thread::yield();
      receive_all(runtime, large);
      send_all(runtime, large);
      while (traffic().activates < count) std::this_thread::yield();
      along_to_large = traffic().eager_bytes;
    }
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2));
  EXPECT_EQ(along_to_small, 2 * bytes);
  EXPECT_EQ(along_to_large, count * bytes);
}

}  // namespace
}  // namespace fairlead::unequal_memory
