// A factorization on simulated ranks: its messages are the paper's, its time is computed by hand for small ones,
// and a run is determined by its seed.
#include "simulate/cluster/cluster.hpp"
#include "at_length.hpp"

#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "machine/machine_files.hpp"
#include "simulate/cluster/made_up.hpp"

namespace fairlead::simulate {
namespace {

ClusterResult run(const char* workload, std::int64_t tiles, std::int32_t p, std::int32_t q,
                  ClusterOptions options = {.policy = "lws"}, std::int64_t tile = 10) {
  const Blueprint blueprint(workload, {tiles * tile, tile, Precision::double_},
                            {.rank_rows = p, .rank_columns = q});
  return simulate(blueprint, made_up_cluster(static_cast<std::size_t>(p * q), gigabyte, 2), {}, options);
}

/// One for each task and other rank that needs its output; by hand from the right-looking algorithm.
std::size_t pairs_of_cholesky(std::int64_t nt, std::int32_t p, std::int32_t q) {
  const auto rank = [&](std::int64_t m, std::int64_t n) { return m % p * q + n % q; };
  std::size_t count = 0;
  const auto add = [&](std::set<std::int64_t> to, std::int64_t from) {
    to.erase(from);
    count += to.size();
  };
  for (std::int64_t k = 0; k < nt; ++k) {
    std::set<std::int64_t> needs_diagonal;
    for (std::int64_t m = k + 1; m < nt; ++m) {
      needs_diagonal.insert(rank(m, k));
      std::set<std::int64_t> needs_panel;
      for (std::int64_t n = k + 1; n <= m; ++n) needs_panel.insert(rank(m, n));
      for (std::int64_t n = m; n < nt; ++n) needs_panel.insert(rank(n, m));
      add(needs_panel, rank(m, k));
    }
    add(needs_diagonal, rank(k, k));
  }
  return count;
}

TEST(Cluster, SendsThePapersMessages) {
  const ClusterResult four = run("cholesky", 4, 2, 2, {.policy = "lfq"}, 200);
  EXPECT_EQ(four.traffic(), (net::NetworkTraffic{.activates = 12,
                                                 .requests = 12,
                                                 .credits = 0,
                                                 .payloads = 12,
                                                 .payload_bytes = 12 * 200 * 200 * 8,
                                                 .eager_bytes = 0}));
  std::vector<std::size_t> sent;
  for (const RankResult& rank : four.ranks) sent.push_back(rank.traffic.activates);
  EXPECT_EQ(sent, (std::vector<std::size_t>{4, 2, 4, 2}));
  EXPECT_EQ(four.tasks, 20u);
  const std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t>, std::size_t> worked_out{
      {{4, 1, 1}, 0},  {{4, 2, 1}, 6},  {{4, 1, 2}, 6},   {{6, 2, 2}, 30},
      {{8, 2, 2}, 56}, {{8, 2, 3}, 77}, {{10, 2, 2}, 90}, {{20, 3, 3}, 722}};
  for (const auto& [shape, count] : worked_out) {
    const auto [nt, p, q] = shape;
    const net::NetworkTraffic traffic = run("cholesky", nt, p, q).traffic();
    EXPECT_EQ(traffic.activates, count) << nt << " tiles on " << p << " x " << q;
    EXPECT_EQ(traffic.requests, count);
    EXPECT_EQ(traffic.payloads, count);
  }
}

TEST(Cluster, SendsOneMessageForEachTaskAndRankThatNeedsIt) {
  std::size_t turn = 0;
  for (std::int64_t nt = 4; nt <= 9; ++nt)
    for (std::int32_t p = 1; p <= 3; ++p)
      for (std::int32_t q = 1; q <= 4; ++q) {
        if (tests::left_out(turn++, 5)) continue;
        const net::NetworkTraffic traffic = run("cholesky", nt, p, q).traffic();
        EXPECT_EQ(traffic.payloads, pairs_of_cholesky(nt, p, q)) << nt << " tiles on " << p << " x " << q;
        EXPECT_EQ(traffic.activates, traffic.payloads);
      }
}

TEST(Cluster, TakesTheTimeComputedByHand) {
  // potrf on rank 0, then trsm, syrk, potrf on rank 1: the diagonal tile of 80,000 bytes goes there between them,
  // after an activate and a request.
  const double n = 100, tile_ns = 80'000, latency_ns = 10'000;
  const double potrf = n * n * n / 3 + n * n / 2 + n / 6, trsm = n * n * n, syrk = n * n * (n + 1);
  const ClusterResult two = run("cholesky", 2, 2, 1, {.policy = "lws"}, 100);
  const double expected = 2 * potrf + trsm + syrk + tile_ns + 3 * latency_ns;
  EXPECT_GE(two.seconds * 1e9, expected);
  EXPECT_LE(two.seconds * 1e9, expected + 1000);  // bytes of two messages
  // While the tile is in flight, both cores of rank 1 wait for it.
  EXPECT_NEAR(two.ranks[1].waiting_for_network_seconds * 1e9, 2 * (tile_ns + 2 * latency_ns), 1000);
  EXPECT_NEAR(two.ranks[1].computing_seconds * 1e9, potrf + trsm + syrk, 10);
}

TEST(Cluster, WorkersWaitForTheirCopiesBetweenTasks) {
  // Rank 0 has the columns 0 and 2. It is asked for the first value of column 0 while it makes the second, and copies both before
  // its next task; rank 1 copies the first as it comes, the second when its task with the first is over.
  const double n = 100, tile_ns = 80'000, latency_ns = 10'000, copy = 10 * tile_ns;
  const double potrf = n * n * n / 3 + n * n / 2 + n / 6, trsm = n * n * n, syrk = n * n * (n + 1),
               gemm = 2 * n * n * n;
  const Blueprint blueprint("cholesky", {300, 100, Precision::double_}, {.rank_rows = 1, .rank_columns = 2});
  const auto on = [&](const std::string& keys) {
    return simulate(blueprint, made_up_cluster(2, gigabyte + "heard_between_tasks = true\n" + keys), {},
                    {.policy = "lws"});
  };
  const ClusterResult two = on("byte_nanoseconds = 10\n");
  const double first_is_there = potrf + 2 * trsm + copy + latency_ns;
  const double last_is_sent = first_is_there + syrk + copy + potrf + gemm + trsm;
  const double expected = last_is_sent + 3 * latency_ns + copy + syrk + potrf;
  EXPECT_GE(two.seconds * 1e9, expected);
  EXPECT_LE(two.seconds * 1e9, expected + 20'000);  // bytes of messages
  for (const RankResult& rank : two.ranks)
    EXPECT_NEAR(seconds(rank.crossed.cpu_time) * 1e9, 3 * copy, 10'000);
  const ClusterResult free = on("");
  EXPECT_LT(free.seconds * 1e9, expected - 2 * copy);
  for (std::size_t i : {0, 1}) {
    EXPECT_EQ(two.ranks[i].computing_seconds, free.ranks[i].computing_seconds);
    EXPECT_EQ(free.ranks[i].crossed.cpu_time, Duration{});
  }
}

TEST(Cluster, AccountsForAllTimeAndBytes) {
  const ClusterResult six = run("lu", 12, 2, 3);
  Bytes out = 0, in = 0;
  double computing = 0;
  for (const RankResult& rank : six.ranks) {
    out += rank.crossed.bytes_out;
    in += rank.crossed.bytes_in;
    computing += rank.computing_seconds;
    EXPECT_GE(rank.waiting_for_others_seconds, 0);
    EXPECT_NEAR(rank.computing_seconds + rank.waiting_for_network_seconds + rank.waiting_for_others_seconds,
                2 * six.seconds, 1e-9);
  }
  EXPECT_EQ(out, in);
  EXPECT_GT(out, six.traffic().payload_bytes);
  EXPECT_NEAR(computing, 12 * six.compute_bound_seconds, 1e-9);  // all cores are alike
  EXPECT_EQ(six.tasks, 12u * 13u * 25u / 6u);
}

/// Summit's nodes, six devices each and no cores.
ClusterResult on_summit(std::int64_t tiles, ClusterOptions options, std::optional<Bytes> device_memory = {}) {
  const Blueprint blueprint("cholesky", {tiles * 960, 960, Precision::double_},
                            {.rank_rows = 2, .rank_columns = 2});
  return simulate(blueprint, machine::load_machine("summit"), {.cores = 0, .device_memory = device_memory},
                  options);
}

TEST(Cluster, ComputesOnDevices) {
  for (const char* policy : {"lws", "owner-user", "darts"})
    for (const Advice advice : {Advice::none, Advice::cyclic}) {
      SCOPED_TRACE(policy);
      const ClusterResult four = on_summit(16, {.policy = policy, .advice = advice});
      EXPECT_EQ(four.tasks, 16u * 17u * 18u / 6u);
      EXPECT_EQ(four.traffic().payloads, pairs_of_cholesky(16, 2, 2));
      double computing = 0;
      for (const RankResult& rank : four.ranks) {
        computing += rank.computing_seconds;
        EXPECT_GT(rank.bytes_to_devices, rank.traffic.payload_bytes / 8);
        EXPECT_EQ(rank.to_disk, 0u);
      }
      EXPECT_GT(four.seconds, four.compute_bound_seconds);
      EXPECT_NEAR(computing, 4 * 6 * four.compute_bound_seconds, 0.2 * computing);  // kernels run two at once
    }
}

// Each tile is on its advised device: written data never change their device, and all values pass through the hosts.
TEST(Cluster, DevicesAreAdvisedByTheTilesOfTheirRank) {
  const ClusterResult advised = on_summit(24, {.policy = "owner-user", .advice = Advice::cyclic}),
                      random = on_summit(24, {.policy = "owner-random"});
  const auto to_devices = [](const ClusterResult& of) {
    Bytes bytes = 0;
    for (const RankResult& rank : of.ranks) bytes += rank.bytes_to_devices + rank.bytes_between_devices;
    return bytes;
  };
  EXPECT_LT(to_devices(advised), to_devices(random));
  // The tiles of a rank are distributed over all of its devices, so all of them compute.
  EXPECT_LT(advised.seconds, random.seconds);
}

TEST(Cluster, DevicesMayBeSmallerThanTheirRanksPart) {
  const Bytes six_tiles = 6 * Bytes{960 * 960 * 8};
  const ClusterResult four = on_summit(24, {.policy = "lws"}, six_tiles);
  EXPECT_EQ(four.tasks, 24u * 25u * 26u / 6u);
  std::uint64_t evictions = 0;
  for (const RankResult& rank : four.ranks) evictions += rank.evictions;
  EXPECT_GT(evictions, 0u);
}

TEST(Cluster, IsTheSameForTheSameSeed) {
  ClusterOptions options{.policy = "lws", .seed = 3, .noise_percent = 10};
  const ClusterResult first = run("cholesky", 12, 2, 3, options), second = run("cholesky", 12, 2, 3, options);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(first.seconds, second.seconds);
  EXPECT_EQ(first.events, second.events);
  options.seed = 4;
  EXPECT_NE(run("cholesky", 12, 2, 3, options).seconds, first.seconds);
}

TEST(Cluster, ForwardsValuesAlongChainsAndTreesIfEnabled) {
  ClusterOptions options{.policy = "lws"};
  options.protocol.eager_bytes = 1024;
  options.protocol.credit_bytes = 1 << 20;
  const ClusterResult eager = run("cholesky", 10, 2, 2, options);
  EXPECT_EQ(eager.traffic().requests, 0u);
  EXPECT_EQ(eager.traffic().eager_bytes, 90u * 800u);
  options.protocol.eager_bytes = Bytes{1}
                                 << 60;  // no memory is taken for values that are larger than there are
  EXPECT_EQ(run("cholesky", 10, 2, 2, options).digest, eager.digest);
  options.protocol = {.tree_from = 3};
  const ClusterResult tree = run("cholesky", 12, 3, 3, options);
  EXPECT_EQ(tree.traffic().payloads, pairs_of_cholesky(12, 3, 3));
}

/// Inputs that come from tasks.
std::uint64_t edges_of_cholesky(std::uint64_t nt) {
  const std::uint64_t trsm = nt * (nt - 1) / 2, syrk = trsm, gemm = nt * (nt - 1) * (nt - 2) / 6;
  const std::uint64_t from_tile = (nt - 1) + (trsm - (nt - 1)) + (syrk - (nt - 1)) +
                                  (gemm - (nt - 1) * (nt - 2) / 2);  // but for the first that uses it
  return trsm + syrk + 2 * gemm + from_tile;
}

TEST(Cluster, AllRanksTogetherExamineLittleMoreThanTheirTasksAndEdges) {
  for (const std::int32_t p : {1, 2, 3, 4}) {
    if (!tests::many_cases() && p % 3 != 0) continue;
    const ClusterResult result = run("cholesky", 24, p, 4);
    EXPECT_EQ(result.tasks, 24u * 25u * 26u / 6u);
    EXPECT_LE(result.tasks_examined, 3 * (result.tasks + edges_of_cholesky(24))) << p;
    EXPECT_GE(result.tasks_examined, result.tasks);
  }
}

TEST(Cluster, ComputesOutOfCoreIfThereIsADisk) {
  const Blueprint blueprint("cholesky", {1200, 100, Precision::double_}, {.rank_rows = 2, .rank_columns = 2});
  machine::MachineDescription machine = made_up_cluster(4, gigabyte, 1, "1MiB");  // 13 of 21 tiles, or fewer
  machine.disk.emplace().bytes_per_second = 1e8;
  const ClusterResult out = simulate(blueprint, machine, {}, {.policy = "lws"});
  EXPECT_EQ(out.traffic().payloads, pairs_of_cholesky(12, 2, 2));
  for (const RankResult& rank : out.ranks) {
    EXPECT_GT(rank.evictions, 0u);
    EXPECT_LE(rank.peak_memory, Bytes{1} << 20);
  }
  machine.memory = Bytes{1} << 30;
  const ClusterResult in = simulate(blueprint, machine, {}, {.policy = "lws"});
  EXPECT_GT(out.seconds, in.seconds);
  EXPECT_EQ(in.tasks, out.tasks);
}

std::string refused(std::int64_t n, std::int32_t p, std::int32_t q, const char* memory = "1GB",
                    const char* workload = "cholesky") {
  try {
    const Blueprint blueprint(workload, {n, 100, Precision::double_}, {.rank_rows = p, .rank_columns = q});
    simulate(blueprint, made_up_cluster(4, gigabyte, 1, memory), {}, {.policy = "lws"});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Cluster, RefusesDataThatDoNotFit) {
  EXPECT_NE(refused(1000, 2, 3).find("has 4 nodes, not 6"), std::string::npos) << refused(1000, 2, 3);
  EXPECT_NE(refused(200, 1, 3).find("fewer than the grid of 1 x 3"), std::string::npos) << refused(200, 1, 3);
  EXPECT_NE(refused(2000, 1, 2, "1MB").find("does not fit in the 1MB of a node"), std::string::npos)
      << refused(2000, 1, 2, "1MB");
  EXPECT_NE(refused(1000, 1, 2, "1GB", "tree").find("cholesky, lu, gemm"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::simulate
