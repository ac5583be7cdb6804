// The cost of an allocation and a release: the allocator runs under the engine's lock.
#include "memory/range_allocator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <vector>

#include "base/random.hpp"

namespace {

using namespace fairlead;
using namespace fairlead::memory;

// Nanoseconds for one allocation and one release, with `live_ranges` allocated and as many holes between
// them.
double nanoseconds_per_pair(std::size_t live_ranges, std::span<const Bytes> sizes) {
  Random random(1);
  RangeAllocator ranges(Bytes{64} << 30);
  std::vector<ByteRange> live;
  const auto next_size = [&] { return sizes[random.below(sizes.size())]; };
  for (std::size_t i = 0; i < 2 * live_ranges; ++i) live.push_back(*ranges.allocate(next_size()));
  while (live.size() > live_ranges) {
    std::swap(live[random.below(live.size())], live.back());
    ranges.release(live.back());
    live.pop_back();
  }
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    constexpr int pairs = 20'000;
    const auto started = std::chrono::steady_clock::now();
    for (int i = 0; i < pairs; ++i) {
      ByteRange& range = live[random.below(live.size())];
      ranges.release(range);
      range = *ranges.allocate(next_size());
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - started;
    best = std::min(best, took.count() / pairs);
  }
  return best;
}

}  // namespace

int main() {
  const Bytes equal[] = {2 << 20};
  const Bytes mixed[] = {2 << 20, 1300 << 10, 500 << 10, 64 << 10, 36 << 10, 12 << 10, 4 << 10};
  for (const std::size_t held : {100, 1000, 4000, 16000})
    std::printf("allocate and release, %5zu held: %.0f ns with equal sizes, %.0f ns with mixed ones\n", held,
                nanoseconds_per_pair(held, equal), nanoseconds_per_pair(held, mixed));
}
