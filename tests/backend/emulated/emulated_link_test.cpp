// An emulated link: which copies wait for which.
#include "backend/emulated/emulated_link.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace fairlead::backend {
namespace {

constexpr Bytes large = 4 << 20, small = 4096;

/// Records completed transfers, in order.
class Ends final : public TransferListener {
 public:
  void completed(void* token, const TransferResult&) noexcept override {
    const std::lock_guard lock(mutex_);
    ends_.push_back(*static_cast<const std::string*>(token));
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_.size() >= count; });
    return ends_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> ends_;
};

Time now() { return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch()); }

/// A large copy out, then a small copy in. The large one takes 50 ms; if the small one must not wait for it, 10 s, so that the
/// small one completes first on any schedule, and then the large one is cut short.
std::vector<std::string> ends_over_a_wire(bool duplex) {
  std::vector<std::byte> large_here(large, std::byte{1}), large_there(large), small_here(small),
      small_there(small);
  std::string out = "out", back = "back";
  Ends ends;
  EmulatedLink wire({.bytes_per_second = duplex ? 400'000u : 80'000'000u, .duplex = duplex},
                    {.clock = now, .wake = [] {}});
  EXPECT_EQ(wire.threads(), duplex ? 2u : 1u);
  wire.start({.from = {.address = large_here.data()},
              .to = {.address = large_there.data()},
              .bytes = large,
              .receiver = &ends,
              .token = &out});
  wire.start({.away_from_home = false,
              .from = {.address = small_there.data()},
              .to = {.address = small_here.data()},
              .bytes = small,
              .receiver = &ends,
              .token = &back});
  if (duplex) {
    ends.wait_for(1);
    wire.skip_throttling();
  }
  const std::vector<std::string> order = ends.wait_for(2);
  EXPECT_EQ(large_here, large_there);
  return order;
}

}  // namespace

TEST(EmulatedLink, CopiesInBothDirectionsConcurrentlyIfDuplex) {
  EXPECT_THAT(ends_over_a_wire(true), testing::ElementsAre("back", "out"));
}

TEST(EmulatedLink, CopiesSequentiallyIfNotDuplex) {
  EXPECT_THAT(ends_over_a_wire(false), testing::ElementsAre("out", "back"));
}

}  // namespace fairlead::backend
