// Sums records that do not fit in memory (FAIRLEAD_MEMORY=16MiB) by key. Each block of records is mapped to its
// contribution to the sums; a reduction combines the contributions, on all workers at the same time. A second pass
// counts the records whose value is above the mean, so it reads the blocks from disk again. Both results are compared
// with a plain loop over the same records.
//
//   map_reduce [RECORDS [KEYS [RECORDS_PER_BLOCK]]]
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace fairlead;

namespace {

struct Record {
  std::int64_t key = 0, value = 0;
};

/// Deterministic.
Record record_at(std::int64_t i, std::int64_t keys) {
  auto x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 32;
  // A few keys are frequent, most are rare.
  const auto key = static_cast<std::int64_t>(x % static_cast<std::uint64_t>(keys));
  return {key * key / keys, static_cast<std::int64_t>(x >> 48)};
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int i, std::int64_t otherwise) {
    return count > i ? std::atoll(arguments[i]) : otherwise;
  };
  const std::int64_t records = argument(1, 2'000'000), keys = argument(2, 1000),
                     per_block = argument(3, 50'000);
  if (records < 1 || keys < 1 || per_block < 1) {
    std::fprintf(stderr, "map_reduce [RECORDS [KEYS [RECORDS_PER_BLOCK]]], each at least 1\n");
    return 2;
  }
  try {
    Runtime runtime;
    // One row for each field of a record, one tile for each block of records.
    const auto blocks =
        runtime.tiled<std::int64_t>("records", 2, records, TileSize{2, static_cast<std::int32_t>(per_block)});
    std::vector<std::int64_t> sums(static_cast<std::size_t>(keys)), above(1);
    const auto totals = runtime.tiled_in_place<std::int64_t>("sums", sums.data(), keys, 1, keys,
                                                             TileSize{static_cast<std::int32_t>(keys), 1});
    const auto kept = runtime.tiled_in_place<std::int64_t>("above", above.data(), 1, 1, 1, 1);

    const auto read_in = codelet("read_in").cpu([keys](Out<Tile<std::int64_t>> block, std::int64_t first) {
      for (int i = 0; i < block.columns(); ++i) {
        const Record record = record_at(first + i, keys);
        block(0, i) = record.key;
        block(1, i) = record.value;
      }
    });
    const auto map = codelet("map").cpu([](In<Tile<std::int64_t>> block, Reduce<Tile<std::int64_t>> sums) {
      for (int i = 0; i < block.columns(); ++i) sums(static_cast<int>(block(0, i)), 0) += block(1, i);
    });
    const auto select = codelet("select").cpu(
        [](In<Tile<std::int64_t>> block, Reduce<Tile<std::int64_t>> kept, std::int64_t mean) {
          for (int i = 0; i < block.columns(); ++i) kept(0, 0) += block(1, i) > mean;
        });

    const auto began = std::chrono::steady_clock::now();
    Flow flow(runtime);
    const auto number = static_cast<int>((records + per_block - 1) / per_block);
    for (int b = 0; b < number; ++b) {
      flow.submit(read_in(blocks(0, b), b * per_block));
      flow.submit(map(blocks(0, b), totals(0, 0)));
    }
    flow.wait();
    std::int64_t all = 0;
    for (const std::int64_t sum : sums) all += sum;
    const std::int64_t mean = all / records;
    for (int b = 0; b < number; ++b) flow.submit(select(blocks(0, b), kept(0, 0), mean));
    flow.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

    std::vector<std::int64_t> right(static_cast<std::size_t>(keys));
    std::int64_t right_above = 0;
    for (std::int64_t i = 0; i < records; ++i) {
      const Record record = record_at(i, keys);
      right[static_cast<std::size_t>(record.key)] += record.value;
      right_above += record.value > mean;
    }
    const bool good = sums == right && above[0] == right_above;
    std::printf("%lld records of %lld keys in %.2f s: mean %lld, %lld above it; %s\n",
                static_cast<long long>(records), static_cast<long long>(keys), took.count(),
                static_cast<long long>(mean), static_cast<long long>(above[0]),
                good ? "as a plain loop says" : "A PLAIN LOOP SAYS OTHERWISE");
    return good ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "map_reduce: %s\n", error.what());
    return 1;
  }
}
