// One bit is flipped in one of the reads from the spill file of an out-of-core solution, a hundred times.
// With checksums each run ends in an error that names the tile and the place; without, only the backward error can
// show the flip, and the test prints how many it misses.
#include <fairlead/flow.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/runtime.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <optional>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "base/random.hpp"

namespace {

/// Counts reads from writable files, which here are spill files only, and corrupts one of them.
struct Planted {
  std::atomic<std::uint64_t> reads{0}, flip_in{0}, bit{0}, flipped{0};
} planted;

void invalidate(const iovec* parts, int count, ssize_t bytes) {
  if (bytes <= 0 || planted.reads.fetch_add(1) + 1 != planted.flip_in) return;
  auto place = planted.bit / 8 % static_cast<std::uint64_t>(bytes);
  for (int i = 0; i < count; place -= parts[i].iov_len, ++i)
    if (place < parts[i].iov_len) {
      static_cast<unsigned char*>(parts[i].iov_base)[place] ^=
          static_cast<unsigned char>(1u << planted.bit % 8);
      planted.flipped = 1;
      return;
    }
}

bool is_spill_file(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
}

}  // namespace

// These replace the C library's functions in this program.
extern "C" ssize_t pread(int descriptor, void* memory, size_t bytes, off_t offset) {
  const ssize_t got = syscall(SYS_pread64, descriptor, memory, bytes, offset);
  const iovec part{memory, bytes};
  if (is_spill_file(descriptor)) invalidate(&part, 1, got);
  return got;
}
extern "C" ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  const ssize_t got = syscall(SYS_preadv, descriptor, parts, count, offset, 0);
  if (is_spill_file(descriptor)) invalidate(parts, count, got);
  return got;
}

namespace fairlead::linalg {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t n = 512;
constexpr std::int32_t tile = 64;

struct Setting {
  bool checksums = true;
  const char* devices = "";
};

/// The backward error of a solution, of which the factor does not fit into memory.
double solve(const Setting& setting) {
  Config config;
  config.set("workers", 2);
  config.set("bind-threads", false);
  config.set("memory", "512KiB");
  config.set("checksums", setting.checksums);
  if (*setting.devices != '\0') config.set("devices", setting.devices);
  Runtime runtime(config);
  Flow flow(runtime);
  const Kernels kernels = testing::kernels();
  const auto matrix = std::make_shared<GeneratedSpd<double>>(n, 1);
  const auto right = std::make_shared<GeneratedUniform<double>>(n, 1, 2);
  const auto a = runtime.tiled<double>("A", n, n, tile, Tiles::lower);
  fill<double>(flow, matrix, a, Tiles::lower);
  cholesky(flow, kernels, a);
  wait_for_results(flow);
  std::vector<double> x(n);
  right->read(0, n, 0, 1, x.data(), n);
  {
    const auto tiled = runtime.tiled_in_place<double>("x", x.data(), n, 1, n, tile);
    solve_factored(flow, kernels, a, tiled);
    wait_for_results(flow);
    runtime.flush();
  }
  BackwardError<double> error(kernels, matrix, right, x.data(), 1);
  error.submit(flow);
  wait_for_results(flow);
  return error.value();
}

struct Flipped {
  bool happened = false;
  std::string error;  // empty: none
  double backward_error = 0;
};

Flipped solve_with_flip(const Setting& setting, std::uint64_t read, std::uint64_t bit) {
  planted.reads = planted.flipped = 0;
  planted.bit = bit;
  planted.flip_in = read;
  Flipped result;
  try {
    result.backward_error = solve(setting);
  } catch (const Error& error) {
    result.error = error.what();
  }
  planted.flip_in = 0;
  result.happened = planted.flipped != 0;
  return result;
}

std::uint64_t reads_of_a_run(const Setting& setting) {
  planted.reads = 0;
  EXPECT_LT(solve(setting), 1e-14);
  return planted.reads;
}

void expect_all_noticed(const Setting& setting, int flips) {
  const std::uint64_t reads = reads_of_a_run(setting);
  ASSERT_GT(reads, 20u) << "nothing came back from the disk";
  Random random(20'261'121);
  int happened = 0;
  for (int i = 0; i < flips; ++i) {
    // Runs differ in how often they read: most have three quarters of what the first one had.
    const std::uint64_t read = 1 + random.below(reads * 3 / 4), bit = random.next();
    const Flipped flipped = solve_with_flip(setting, read, bit);
    happened += flipped.happened;
    if (flipped.happened)
      EXPECT_THAT(flipped.error, AllOf(HasSubstr("A["), HasSubstr("came back from the disk otherwise"),
                                       HasSubstr("at byte ")))
          << "read " << read << ", bit " << bit;
    else
      EXPECT_EQ(flipped.error, "");
  }
  EXPECT_GE(happened, flips * 3 / 4);
}

TEST(FlippedBits, EachEndsInAnErrorThatNamesTileAndPlace) {
  expect_all_noticed({}, tests::many_cases() ? 100 : 30);
}

TEST(FlippedBits, EachInAChunkForADeviceEndsInSuchAnError) {
  expect_all_noticed({.devices = "emulated:memory=256KiB"}, 25);
}

TEST(FlippedBits, WithoutChecksumsTheBackwardErrorShowsSome) {
  const Setting setting{.checksums = false};
  const std::uint64_t reads = reads_of_a_run(setting);
  Random random(20'261'122);
  int happened = 0, errors = 0, above = 0;
  double largest_missed = 0;
  const double bound = 10 * std::sqrt(static_cast<double>(n)) * 0x1p-53;
  for (int i = 0; i < (tests::many_cases() ? 100 : 30); ++i) {
    const Flipped flipped = solve_with_flip(setting, 1 + random.below(reads * 3 / 4), random.next());
    if (!flipped.happened) continue;
    ++happened;
    errors += !flipped.error.empty();
    if (!flipped.error.empty()) continue;
    if (flipped.backward_error <= bound)
      largest_missed = std::max(largest_missed, flipped.backward_error);
    else
      ++above;
  }
  std::printf(
      "%d flips: %d end in an error, %d have a backward error above %.1e, %d are missed (at most %.1e)\n",
      happened, errors, above, bound, happened - errors - above, largest_missed);
  EXPECT_GT(errors + above, 0);
  EXPECT_LT(errors + above, happened) << "checksums would be of no use";
}

}  // namespace
}  // namespace fairlead::linalg
