// I/O threads: every byte arrives, errors are reported, shutdown is clean.
#include "backend/disk/io_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "at_length.hpp"
#include "backend/disk/spill_file.hpp"
#include "backend/disk/world.hpp"
#include "base/random.hpp"

namespace fairlead::backend {

using namespace std::chrono_literals;

// Sizes around chunks and pages, written and read with different request boundaries.
TEST(IoThreads, DataAreReadBackForAnyRequestBoundaries) {
  World world;
  for (const Bytes bytes : {Bytes{4096}, 3 * MiB + 4096, 16 * MiB, 16 * MiB + 4096, 33 * MiB + 3 * 4096}) {
    const auto slot = world.file.allocate(bytes);
    Buffer written(bytes), read(bytes);
    written.fill(bytes);
    ASSERT_EQ(world.run(world.write(slot.offset, written.data(), bytes)).error_number, 0);
    ASSERT_EQ(world.run(world.read(slot.offset, read.data(), bytes)).bytes, bytes);
    EXPECT_EQ(std::memcmp(written.data(), read.data(), bytes), 0) << bytes;
    read.fill(1);
    std::vector<IoRequest> pages;
    for (Bytes from = 0; from < bytes; from += 5 * 4096)
      pages.push_back(
          world.read(slot.offset + from, read.data() + from, std::min<Bytes>(5 * 4096, bytes - from)));
    for (const IoResult& result : world.run(pages)) ASSERT_EQ(result.error_number, 0);
    EXPECT_EQ(std::memcmp(written.data(), read.data(), bytes), 0) << bytes << " in small requests";
  }
}

TEST(IoThreads, UnalignedSizesWorkThroughThePageCache) {
  World world;
  ASSERT_EQ(fcntl(world.file.descriptor(), F_SETFL, O_RDWR), 0);  // no direct I/O from here on
  const Bytes bytes = 16 * MiB + 12'345;
  world.file.reserve(20 * MiB);
  Buffer written(bytes + 1), read(bytes + 1);
  written.fill(5);
  ASSERT_EQ(world.run(world.write(777, written.data() + 1, bytes)).error_number, 0);
  ASSERT_EQ(world.run(world.read(777, read.data() + 1, bytes)).error_number, 0);
  EXPECT_EQ(std::memcmp(written.data() + 1, read.data() + 1, bytes), 0);
}

// Data left in the page cache would exceed a memory limit that includes it.
TEST(IoThreads, NoDataStayInThePageCache) {
  World world;
  ASSERT_EQ(fcntl(world.file.descriptor(), F_SETFL, O_RDWR), 0);  // no direct I/O from here on
  world.file.reserve(32 * MiB);
  Buffer memory(32 * MiB);
  memory.fill(3);
  ASSERT_EQ(world.run(world.write(0, memory.data(), 32 * MiB)).error_number, 0);
  EXPECT_EQ(world.cached_bytes(32 * MiB), 0u);
  ASSERT_EQ(pread(world.file.descriptor(), memory.data(), MiB, 0), static_cast<ssize_t>(MiB));
  EXPECT_GE(world.cached_bytes(32 * MiB), MiB);  // the check detects cached data
  ASSERT_EQ(world.run(world.read(0, memory.data(), 32 * MiB)).error_number, 0);
  EXPECT_EQ(world.cached_bytes(32 * MiB), 0u);
}

TEST(IoThreads, AnEmptyRequestIsReported) {
  World world;
  world.file.reserve(4096);
  const IoResult result = world.run(world.read(0, nullptr, 0));
  EXPECT_EQ(result.error_number, 0);
  EXPECT_EQ(result.bytes, 0u);
}

TEST(IoThreads, AdjacentSmallRequestsAreJoined) {
  World world({.threads = 1});
  constexpr Bytes count = 200;
  world.file.reserve(count * 4096);
  Buffer memory(count * 4096);
  memory.fill(9);
  std::vector<IoRequest> requests;
  for (Bytes i = 0; i < count; ++i) requests.push_back(world.write(i * 4096, memory.data() + i * 4096, 4096));
  for (const IoResult& result : world.run(requests)) ASSERT_EQ(result.bytes, 4096u);
  const IoCounters counters = world.io->counters();
  EXPECT_EQ(counters.requests_done, count);
  EXPECT_EQ(counters.bytes_written, count * 4096);
  EXPECT_LE(counters.transfers, 2u);
}

// The file ends after the second of four joined requests: two succeed, two fail.
TEST(IoThreads, AJoinedRequestIsNotFailedByItsNeighboursError) {
  World world({.threads = 1});
  world.file.reserve(2 * 4096);
  Buffer memory(4 * 4096);
  std::vector<IoRequest> requests;
  for (Bytes i = 0; i < 4; ++i) requests.push_back(world.read(i * 4096, memory.data() + i * 4096, 4096));
  const auto results = world.run(requests);
  EXPECT_EQ(results[0].error_number, 0);
  EXPECT_EQ(results[1].error_number, 0);
  EXPECT_EQ(results[2].error_number, ENODATA);
  EXPECT_EQ(results[3].error_number, ENODATA);
}

TEST(IoThreads, ReadingPastTheEndIsAnErrorWithTheByteCount) {
  World world;
  world.file.reserve(20 * MiB);
  Buffer memory(40 * MiB);
  const IoResult result = world.run(world.read(0, memory.data(), 40 * MiB));
  EXPECT_EQ(result.error_number, ENODATA);
  EXPECT_EQ(result.bytes, 20 * MiB);
}

TEST(IoThreads, ABadDescriptorAndBadMemoryAreReportedAsErrors) {
  World world;
  world.file.reserve(MiB);
  Buffer memory(MiB);
  IoRequest request = world.read(0, memory.data(), MiB);
  request.descriptor = -1;
  EXPECT_EQ(world.run(request).error_number, EBADF);
  EXPECT_EQ(world.run(world.write(0, reinterpret_cast<std::byte*>(4096), MiB)).error_number, EFAULT);
  EXPECT_EQ(world.run(world.read(0, memory.data(), MiB)).error_number, 0);  // and the threads continue
}

TEST(IoThreads, MisalignedDirectRequestsAreRejectedOnSubmission) {
  World world;
  world.file.reserve(MiB);
  if (!world.file.direct()) GTEST_SKIP() << "no direct I/O in " << world.file.directory();
  Buffer memory(MiB);
  EXPECT_THROW(world.io->submit(world.read(512, memory.data(), 4096)), UsageError);
  EXPECT_THROW(world.io->submit(world.read(0, memory.data() + 512, 4096)), UsageError);
  EXPECT_THROW(world.io->submit(world.read(0, memory.data(), 4000)), UsageError);
  const IoRequest good_and_bad[] = {world.read(0, memory.data(), 4096), world.read(0, memory.data(), 1)};
  EXPECT_THROW(world.io->submit(good_and_bad), UsageError);
  EXPECT_EQ(world.io->counters().requests_done + world.io->waiting(), 0u);  // including the valid request
}

// Each completion handler submits the next request: with a lock held this would deadlock.
TEST(IoThreads, AHandlerMaySubmit) {
  std::atomic<int> left = 200;
  std::atomic<bool> all_done = false;
  World world({.threads = 2});
  world.file.reserve(MiB);
  Buffer memory(4096);
  world.on_done = [&](const IoResult&) {
    if (--left > 0)
      world.io->submit(world.read(0, memory.data(), 4096));
    else
      all_done = true, all_done.notify_all();
  };
  world.io->submit(world.read(0, memory.data(), 4096));
  all_done.wait(false);
  EXPECT_EQ(left, 0);
}

// 64 MB in both directions under 250 MB/s: at least 0.256 s. Only long runs check that it takes no longer, which needs a fast
// disk and an idle machine; the tests of the timetable check that in virtual time.
TEST(IoThreads, TheCapHoldsForBothDirectionsTogetherAndIsUsedUp) {
  const int attempts = tests::at_length() && !tests::sanitized ? 4 : 1;
  for (const Bytes bytes : {2'002'944u, 16'003'072u}) {
    const Bytes count = (64'000'000 + bytes - 1) / bytes;
    const double expected = static_cast<double>(count * bytes) / 250e6;
    double least = 1e9;
    for (int attempt = 0; attempt < attempts && least > 1.05 * expected; ++attempt) {
      World world({.threads = 4, .bytes_per_second = 250'000'000});
      world.file.reserve(count * bytes);
      Buffer memory(count * bytes);
      std::vector<IoRequest> requests;
      for (Bytes i = 0; i < count; ++i)
        requests.push_back(i % 2 == 0 ? world.write(i * bytes, memory.data() + i * bytes, bytes)
                                      : world.read((i - 1) * bytes, memory.data() + i * bytes, bytes));
      const Time before = world.now();
      const auto results = world.run(requests);
      const double took = seconds(world.now() - before);
      for (const IoResult& result : results) EXPECT_EQ(result.error_number, 0);
      EXPECT_GT(took, 0.95 * expected) << "requests of " << bytes;
      least = std::min(least, took);
    }
    if (attempts > 1) {
      EXPECT_LT(least, 1.05 * expected) << "requests of " << bytes;
    }
  }
}

// At every time since the first request, the reported bytes are at most those of the cap and its small burst.
TEST(IoThreads, NothingIsReportedBeforeTheCapAllowsIt) {
  constexpr double cap = 100e6;
  World world({.threads = 3, .bytes_per_second = static_cast<Bytes>(cap)});
  world.file.reserve(8 * MiB);
  Buffer memory(30 * MiB);
  Random random(2);
  std::vector<IoRequest> requests;
  for (Bytes i = 0; i < 30; ++i) {
    const Bytes bytes = 4096 * (1 + random.below(250));
    std::byte* const at = memory.data() + i * MiB;
    requests.push_back(random.once_in(2) ? world.write(0, at, bytes) : world.read(0, at, bytes));
  }
  const Time before = world.now();
  auto results = world.run(requests);
  std::ranges::sort(results, {}, &IoResult::finished);
  double reported = 0;
  for (const IoResult& result : results) {
    reported += static_cast<double>(result.bytes);
    EXPECT_LE(reported, cap * seconds(result.finished - before + BandwidthCap::most_behind));
  }
}

TEST(IoThreads, RequestsStartInOrder) {
  World world({.threads = 1});
  world.file.reserve(64 * MiB);
  Buffer memory(20 * MiB);
  std::vector<IoRequest> requests;
  for (Bytes i = 0; i < 12; ++i)
    requests.push_back(world.read((i * 7 % 12) * MiB, memory.data(), i % 5 == 0 ? 20 * MiB : MiB));
  const auto results = world.run(requests);
  EXPECT_TRUE(std::ranges::is_sorted(results, {}, &IoResult::started));
}

// With the cap the queue takes minutes; shutdown must not.
TEST(IoThreads, DestructionReportsTheQueueAsCancelledAndDoesNotWaitForTheCap) {
  World world({.threads = 3, .bytes_per_second = 1'000'000});
  world.file.reserve(128 * MiB);
  Buffer memory(40 * MiB);
  std::vector<IoRequest> requests(40, world.write(0, memory.data(), 2 * MiB));
  requests[20].bytes = 40 * MiB;  // in chunks
  std::atomic<int> cancelled = 0, finished = 0;
  world.on_done = [&](const IoResult& result) {
    ++(result.error_number == ECANCELED ? cancelled : finished);
  };
  world.io->submit(requests);
  const Time before = world.now();
  world.io.reset();
  EXPECT_LT(world.now() - before, 30s);
  EXPECT_EQ(cancelled + finished, 40);
  EXPECT_GE(cancelled, 36);
}

TEST(IoThreads, ARequestSubmittedByAHandlerDuringShutdownIsReported) {
  World world({.threads = 2, .bytes_per_second = 1'000'000});
  world.file.reserve(4 * MiB);
  Buffer memory(MiB);
  std::atomic<int> reported = 0, submitted = 8;
  world.on_done = [&](const IoResult& result) {
    ++reported;
    if (result.error_number == ECANCELED) return;
    ++submitted;
    world.io_while_it_ends->submit(world.write(0, memory.data(), MiB));
  };
  world.io->submit(std::vector<IoRequest>(8, world.write(2 * MiB, memory.data(), MiB)));
  world.io_while_it_ends = world.io.get();
  world.io.reset();
  EXPECT_EQ(reported, submitted);
}

TEST(IoThreads, CountersMatchTheTransfers) {
  World world;
  world.file.reserve(64 * MiB);
  Buffer memory(40 * MiB);
  world.run(world.write(0, memory.data(), 40 * MiB));
  world.run(world.read(0, memory.data(), 3 * MiB));
  const IoCounters counters = world.io->counters();
  EXPECT_EQ(counters.bytes_written, 40 * MiB);
  EXPECT_EQ(counters.bytes_read, 3 * MiB);
  EXPECT_EQ(counters.requests_done, 2u);
  EXPECT_EQ(counters.transfers, 3u + 1u);
  EXPECT_GT(counters.busy, 0ns);
}

TEST(IoThreads, ZeroThreadsAreRejected) { EXPECT_THROW(World({.threads = 0}), UsageError); }

}  // namespace fairlead::backend
