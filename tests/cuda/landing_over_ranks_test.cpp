// Values of other ranks received directly into the memory of a CUDA device. Ranks are threads, or processes of an MPI that
// supports this or not; every configuration gives the values of a sequential run, and the driver finds no invalid use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <iostream>
#include <latch>
#include <mutex>

#include "at_length.hpp"
#include "base/random.hpp"
#include "config/launcher.hpp"
#include "cuda/landing_program.hpp"
#include "net/network.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::tests::landing {

namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

bool are_processes() { return config::detect_launcher(config::process_environment()).has_value(); }
bool runs_here(std::uint32_t ranks) {
  const auto launched = config::detect_launcher(config::process_environment());
  return !launched || launched->ranks == ranks;
}
/// Whether the network reports that it receives into device memory.
bool network_lands() {
  static const bool lands = !are_processes() || launched_rank().network->why_not_into_devices().empty();
  return lands;
}

/// The result and the exception of each rank; of processes only its own.
struct Outcome {
  std::vector<Seen> seen;
  std::vector<std::string> thrown;
  std::uint64_t landed() const {
    std::uint64_t sum = 0;
    for (const Seen& one : seen) sum += one.statistics.network.into_devices.copies;
    return sum;
  }
};
Outcome run_on_ranks(std::uint32_t ranks, const Program& program, const Way& way, std::uint64_t seed) {
  Outcome outcome{.seen = std::vector<Seen>(ranks), .thrown = {}};
  outcome.thrown = on_ranks(
      ranks, [&](std::uint32_t) { return config_of(program, way, ranks, seed); },
      [&](Runtime& runtime) {
        outcome.seen[runtime.rank()] = run(runtime, program, way.advised ? way.devices : 0);
      });
  return outcome;
}
void expect_right(const Outcome& outcome) {
  EXPECT_THAT(outcome.thrown, Each(""));
  for (const Seen& seen : outcome.seen) EXPECT_TRUE(seen.right || (are_processes() && !seen.ended));
}
std::uint64_t values_that_come(const Program& program, std::uint32_t ranks) {
  return program.values_that_come(ranks) * (are_processes() ? 1 : ranks);
}

}  // namespace

// Copies from RAM are those of the values made by rank 0 and 1 and of their C; not of received values.
TEST(LandingOverRanks, AValueIsReceivedWhereItsReaderRuns) {
  constexpr std::uint32_t ranks = 2;
  if (!runs_here(ranks)) return;
  const FakeDevices fake(2);
  const Program program{.of_each = 1, .bodies = Bodies::devices_of_readers, .runs = 1};
  const Outcome outcome = run_on_ranks(ranks, program, {.advised = false}, 1);
  expect_right(outcome);
  for (const Seen& seen : outcome.seen) {
    if (!seen.ended) continue;
    const Statistics& counted = seen.statistics;
    EXPECT_EQ(counted.network.into_devices.bytes, network_lands() ? program.bytes() : 0)
        << counted.network.receive_memory;
    for (const auto& link : counted.links)
      if (link.name.starts_with("cuda")) {
        EXPECT_EQ(link.bytes_from_home(), (network_lands() ? 2 : 3) * program.bytes());
      }
  }
}

TEST(LandingOverRanks, EveryConfigurationGivesTheValuesOfASequentialRun) {
  const auto policies = every_policy();
  std::uint64_t seed = 0, landed = 0, could = 0;
  int runs = 0;
  for (const std::uint32_t ranks : {2u, 3u, 4u})
    for (const char* const into : {"auto", "host", "advised", "random"})
      for (const int devices : {1, 2})
        for (const bool tight_device : {true, false})
          for (const bool tight_ram : {true, false})
            for (const Bytes eager : {Bytes{0}, Bytes{8192}})
              for (const long elements :
                   {700L, 3000L})  // the larger ones are offered to processes of the machine
                for (const Bodies bodies : {Bodies::both, Bodies::devices}) {
                  ++seed;
                  if (!runs_here(ranks) || (!at_length() && seed % (sanitized ? 47 : 5) != 0)) continue;
                  const Way way{into,         devices, tight_device,
                                tight_ram,    eager,   policies[seed % policies.size()],
                                seed % 3 != 0};
                  const Program program{.of_each = 2, .elements = elements, .bodies = bodies};
                  SCOPED_TRACE(fmt::format("{} ranks, {} elements, {}", ranks, elements, text_of(way)));
                  const FakeDevices fake(static_cast<int>(ranks) * devices, seed);
                  const Outcome outcome = run_on_ranks(ranks, program, way, seed);
                  ++runs;
                  const bool by_name = way.into == "advised" || way.into == "random";
                  if (by_name && !network_lands()) {
                    EXPECT_THAT(outcome.thrown, Contains(HasSubstr("receive into memory of CUDA devices")));
                    continue;
                  }
                  expect_right(outcome);
                  if (way.into == "host" || !network_lands() || (way.into == "advised" && !way.advised)) {
                    EXPECT_EQ(outcome.landed(), 0u);
                  } else {
                    landed += outcome.landed();
                    could += values_that_come(program, ranks);
                    if (by_name && !tight_device) {
                      EXPECT_EQ(outcome.landed(), values_that_come(program, ranks));
                    }
                  }
                }
  std::cout << runs << " runs; " << landed << " of " << could << " values landed in devices\n";
  if (runs != 0 && network_lands()) {
    EXPECT_GT(landed * 4, could);
  }
}

// Without advice, and with two devices: a value is received where the datum that its reader changes is, once tasks have
// changed it.
TEST(LandingOverRanks, AValueIsReceivedNextToTheDatumThatItsReaderChanges) {
  constexpr std::uint32_t ranks = 2;
  if (!runs_here(ranks)) return;
  const FakeDevices fake(4);
  const Program program{.of_each = 4, .bodies = Bodies::devices, .runs = 6};
  const Outcome outcome = run_on_ranks(ranks, program, {.devices = 2, .advised = false}, 2);
  expect_right(outcome);
  for (const Seen& seen : outcome.seen)
    if (seen.ended) {
      const std::uint64_t landed = seen.statistics.network.into_devices.copies;
      EXPECT_GE(landed, network_lands() ? program.values_that_come(ranks) * 5 / 6 - 4 : 0);
      EXPECT_LE(landed, network_lands() ? program.values_that_come(ranks) : 0);
    }
}

// Lost at any time, also while values are received there: each rank reports the loss, or its values are correct.
TEST(LandingOverRanks, ALostDeviceIsNamedOrAllValuesAreCorrect) {
  constexpr std::uint32_t ranks = 2;
  if (!runs_here(ranks) || !network_lands()) return;
  int lost = 0, reported = 0;
  const std::uint64_t points = at_length() ? 400 : sanitized ? 12 : 40;
  for (std::uint64_t point = 1; point <= points; ++point) {
    Random random(point);
    const Program program{.of_each = 3, .bodies = random.once_in(3) ? Bodies::both : Bodies::devices};
    const Way way{.into = random.once_in(2) ? "random" : "advised",
                  .devices = 1 + static_cast<int>(random.below(2)),
                  .tight_device = random.once_in(2),
                  .eager = random.once_in(2) ? Bytes{8192} : 0};
    const int devices = static_cast<int>(ranks) * way.devices;
    const FakeDevices fake(devices, point, 30);
    SCOPED_TRACE(fmt::format("point {}: {}", point, text_of(way)));
    const auto device = static_cast<int>(random.below(static_cast<std::uint64_t>(devices)));
    fake_cuda::lose(device, 8 + random.below(25));  // not before there are all runtimes
    const Outcome outcome = run_on_ranks(ranks, program, way, point);
    lost += fake_cuda::is_lost(device);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (outcome.thrown[rank].empty()) {
        EXPECT_TRUE(outcome.seen[rank].right || (are_processes() && !outcome.seen[rank].ended));
        continue;
      }
      ++reported;
      EXPECT_THAT(outcome.thrown[rank], AnyOf(HasSubstr("is lost"), HasSubstr("CUDA_ERROR_LAUNCH_FAILED")));
    }
  }
  std::cout << points << " points: " << lost << " losses here, " << reported << " ranks reported one\n";
  if (are_processes()) return;
  EXPECT_GE(lost * 3, static_cast<int>(points));
  EXPECT_GT(reported, 0);
}

// A driver function that copies a value to the device fails: all ranks get its error.
TEST(LandingOverRanks, ADriverErrorIsReportedToAllRanks) {
  constexpr std::uint32_t ranks = 2;
  if (are_processes()) return;  // an MPI calls the driver by itself
  for (const Bytes eager : {Bytes{0}, Bytes{8192}})
    for (const char* const function :
         {"cuMemcpyHtoDAsync_v2", "cuMemHostAlloc", "cuStreamCreate", "cuEventRecord"}) {
      const FakeDevices fake(2, 3);
      const Program program{.of_each = 1, .bodies = Bodies::devices, .runs = 1};
      const Way way{.into = "auto", .eager = eager, .advised = false};
      std::vector<Seen> seen(ranks);
      std::latch all_are_there(ranks);  // or have no runtime
      std::vector<std::once_flag> arrives(ranks);
      const auto arrive = [&](std::uint32_t rank) {
        std::call_once(arrives[rank], [&] { all_are_there.count_down(); });
      };
      const auto thrown = on_ranks(
          ranks, [&](std::uint32_t) { return config_of(program, way, ranks, 3); },
          [&](Runtime& runtime) {
            arrive(runtime.rank());
            all_are_there.wait();
            fake_cuda::fail(function, 1, true, 304);
            seen[runtime.rank()] = run(runtime, program, 0);
          },
          arrive);
      fake_cuda::fail(nullptr);
      EXPECT_THAT(thrown, Each(HasSubstr("CUDA_ERROR_OPERATING_SYSTEM"))) << function << ", eager " << eager;
    }
}

TEST(LandingOverRanks, WhatCannotBeIsSaidBeforeAnythingRuns) {
  constexpr std::uint32_t ranks = 2;
  if (!runs_here(ranks)) return;
  const FakeDevices fake(2);
  for (const char* const into : {"advised", "random"}) {
    const auto thrown = on_ranks(
        ranks,
        [&](std::uint32_t) {
          Config config;
          config.set("memory", "16MiB");
          config.set("workers", "1");
          config.set("receive-into", into);
          return config;
        },
        [](Runtime&) {});
    EXPECT_THAT(thrown, Contains(fmt::format("--receive-into {}: no device is used", into)));
    if (network_lands()) continue;
    const Outcome outcome = run_on_ranks(ranks, {}, {.into = into}, 1);
    EXPECT_THAT(outcome.thrown,
                Contains(HasSubstr(" reports that it does not receive into memory of CUDA devices")));
  }
}

}  // namespace fairlead::tests::landing
