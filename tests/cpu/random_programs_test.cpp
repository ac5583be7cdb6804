// Random programs on real threads over tiles that come and go between memory and disk: every task sees the
// values that the program's order demands, whatever the policy, the workers and the memory.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace fairlead {
namespace {

using Value = std::int64_t;
constexpr int side = 36;         // a tile takes three pages: the smallest memory, 64 KiB, holds five
constexpr std::size_t rows = 6;  // of tiles, as many columns
constexpr int tasks = 400;

/// What a task does with its last datum, having read the others.
enum class Kind : std::size_t { set, update, mix_one, mix_two, mix_four, add };
constexpr std::array<std::size_t, 6> reads_of{0, 0, 1, 2, 4, 1};

Value mixed(Value own, std::initializer_list<Value> read) {
  for (const Value value : read) own = own * 31 + value % 1'000'003;
  return own % 1'000'000'007;
}

/// A tile holds one value in all its elements; -1 if it does not.
template <class T>
Value value_of(const T& tile) {
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i)
      if (tile(i, j) != tile(0, 0)) return -1;
  return tile(0, 0);
}
template <class T>
void fill(T& tile, Value value) {
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) tile(i, j) = value;
}

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {}

  /// Submits the tasks; each checks what it reads against the sequential values.
  void submit(Flow& flow, const TiledMatrix<Value>& matrix) {
    using Read = In<Tile<Value>>;
    const auto right = [this](Value found, Value expected) { wrong += found != expected; };
    const auto set = codelet("set").cpu([](Out<Tile<Value>> t, Value value) { fill(t, value); });
    const auto update = codelet("update").cpu([right](InOut<Tile<Value>> t, Value before) {
      right(value_of(t), before);
      fill(t, mixed(before, {7}));
    });
    const auto one = codelet("one").cpu([right](Read a, InOut<Tile<Value>> t, Value x, Value before) {
      right(value_of(a), x);
      fill(t, mixed(before, {value_of(a)}));
    });
    const auto two = codelet("two").cpu([](Read a, Read b, InOut<Tile<Value>> t) {
      fill(t, mixed(value_of(t), {value_of(a), value_of(b)}));
    });
    const auto four = codelet("four").cpu([](Read a, Read b, Read c, Read d, InOut<Tile<Value>> t) {
      fill(t, mixed(value_of(t), {value_of(a), value_of(b), value_of(c), value_of(d)}));
    });
    const auto add =
        codelet("add").cpu([](Read a, Commute<Tile<Value>> t) { fill(t, value_of(t) + value_of(a)); });

    values.assign(rows * rows, 0);
    const auto tile = [&](std::size_t k) {
      return matrix(static_cast<std::int32_t>(k / rows), static_cast<std::int32_t>(k % rows));
    };
    for (std::size_t k = 0; k < values.size(); ++k) flow.submit(set(tile(k), values[k] = Value(k) + 1));
    for (int i = 0; i < tasks; ++i) {
      const auto kind = static_cast<Kind>(random_.below(reads_of.size()));
      const auto used = some(reads_of[static_cast<std::size_t>(kind)] + 1);
      const std::size_t own = used.back();
      Value& value = values[own];
      switch (kind) {
        case Kind::set:
          value = static_cast<Value>(random_.below(1000));
          flow.submit(set(tile(own), value));
          break;
        case Kind::update:
          flow.submit(update(tile(own), value));
          value = mixed(value, {7});
          break;
        case Kind::mix_one:
          flow.submit(one(tile(used[0]), tile(own), values[used[0]], value).priority(i % 3));
          value = mixed(value, {values[used[0]]});
          break;
        case Kind::mix_two:
          flow.submit(two(tile(used[0]), tile(used[1]), tile(own)));
          value = mixed(value, {values[used[0]], values[used[1]]});
          break;
        case Kind::mix_four:
          flow.submit(four(tile(used[0]), tile(used[1]), tile(used[2]), tile(used[3]), tile(own)));
          value = mixed(value, {values[used[0]], values[used[1]], values[used[2]], values[used[3]]});
          break;
        case Kind::add:
          flow.submit(add(tile(used[0]), tile(own)));
          value += values[used[0]];
          break;
      }
    }
    const auto check = codelet("check").cpu([right](Read t, Value value) { right(value_of(t), value); });
    for (std::size_t k = 0; k < values.size(); ++k) flow.submit(check(tile(k), values[k]));
    flow.wait();
  }

  std::vector<Value> values;  // what the tiles hold after the tasks so far, one after the other
  std::atomic<int> wrong = 0;

 private:
  /// Tiles that differ; few of them are used often.
  std::vector<std::size_t> some(std::size_t count) {
    std::vector<std::size_t> chosen;
    while (chosen.size() < count) {
      const std::size_t tile = random_.below(random_.once_in(2) ? values.size() : 8);
      if (std::find(chosen.begin(), chosen.end(), tile) == chosen.end()) chosen.push_back(tile);
    }
    return chosen;
  }
  Random random_;
};

class RandomProgramsOnThreads : public testing::TestWithParam<const char*> {};

TEST_P(RandomProgramsOnThreads, SeeTheValuesOfTheProgramsOrder) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Random random(seed);
    Config config;
    config.set("workers", 1 + seed % 4);
    config.set("scheduler", GetParam());
    // From what the largest task needs to more than there are.
    const auto kibibytes = random.once_in(4) ? std::int64_t{12 * rows * rows + 64} : random.between(64, 256);
    config.set("memory", std::to_string(kibibytes) + "KiB");
    config.set("spin", random.once_in(2) ? 0 : 50);
    config.set("bind-threads", false);
    config.set("window", random.once_in(2) ? 2048 : random.between(8, 100));
    Runtime runtime(config);
    const auto matrix = runtime.tiled<Value>("A", rows * side, rows * side, side);
    Program program(seed);
    Flow flow(runtime);
    program.submit(flow, matrix);
    ASSERT_EQ(program.wrong, 0) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, RandomProgramsOnThreads,
                         testing::Values("eager", "lws", "darts", "darts-belady", "darts-chain",
                                         "darts-defer", "blocks"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace fairlead
