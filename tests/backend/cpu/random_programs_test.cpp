// Random programs on real threads over tiles that move between disk, memory and devices: every task reads the values of
// sequential execution, for any policy, workers, devices and memory.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "whole/every_policy.hpp"

namespace fairlead {
namespace {

using Value = std::int64_t;
constexpr int side = 36;         // a tile takes three pages: the smallest memory, 64 KiB, holds five
constexpr std::size_t rows = 6;  // of tiles, as many columns
constexpr int tasks = 400;

/// The operation on a task's last datum, after reading the others.
enum class Kind : std::size_t { set, update, mix_one, mix_two, mix_four, add, reduce, hold, hold_then };
constexpr std::array<std::size_t, 9> reads_of{0, 0, 1, 2, 4, 1, 1, 0, 0};

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
  /// `devices`: some tasks run on them only, some on cores only, some on both.
  Program(std::uint64_t seed, bool devices) : random_(seed), devices_(devices) {}

  /// Submits the tasks; each checks what it reads against the sequential values.
  void submit(Flow& flow, const TiledMatrix<Value>& matrix) {
    using Read = In<Tile<Value>>;
    /// One body for cores, for devices, or for both, or two for each kind, drawn for each task.
    const auto somewhere = [this](const char* name, auto body) {
      return [this, on_cores = codelet(name).cpu(body), on_devices = codelet(name).emulated(body),
              on_both = codelet(name).cpu(body).emulated(),
              choice = codelet(name).cpu("one", body).cpu("other", body),
              choice_on_both =
                  codelet(name).cpu("one", body).cpu("other", body).emulated()](auto&&... arguments) {
        const bool several = random_.once_in(3);
        const std::uint64_t where = devices_ ? random_.below(3) : 0;
        if (several) return (where == 0 ? choice : choice_on_both)(arguments...);
        return (where == 0 ? on_cores : where == 1 ? on_devices : on_both)(arguments...);
      };
    };
    const auto right = [this](Value found, Value expected) { wrong += found != expected; };
    const auto set = somewhere("set", [](Out<Tile<Value>> t, Value value) { fill(t, value); });
    const auto update = somewhere("update", [right](InOut<Tile<Value>> t, Value before) {
      right(value_of(t), before);
      fill(t, mixed(before, {7}));
    });
    const auto one = somewhere("one", [right](Read a, InOut<Tile<Value>> t, Value x, Value before) {
      right(value_of(a), x);
      fill(t, mixed(before, {value_of(a)}));
    });
    const auto two = somewhere("two", [](Read a, Read b, InOut<Tile<Value>> t) {
      fill(t, mixed(value_of(t), {value_of(a), value_of(b)}));
    });
    const auto four = somewhere("four", [](Read a, Read b, Read c, Read d, InOut<Tile<Value>> t) {
      fill(t, mixed(value_of(t), {value_of(a), value_of(b), value_of(c), value_of(d)}));
    });
    const auto add =
        somewhere("add", [](Read a, Commute<Tile<Value>> t) { fill(t, value_of(t) + value_of(a)); });

    const auto reduce =
        somewhere("reduce", [](Read a, Reduce<Tile<Value>> t) { fill(t, value_of(t) + value_of(a)); });

    const auto submit = [&](const auto& call) { insist(flow, [&] { flow.submit(call); }); };
    const auto ended = [this](const std::exception_ptr& failure) { calls += failure == nullptr; };
    std::optional<Future> last;

    values.assign(rows * rows, 0);
    const auto tile = [&](std::size_t k) {
      return matrix(static_cast<std::int32_t>(k / rows), static_cast<std::int32_t>(k % rows));
    };
    // Some tiles are generated, some are set to the same values.
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = Value(k) + 1;
      if (random_.once_in(2)) flow.submit(set(tile(k), values[k]));
    }
    for (int i = 0; i < tasks; ++i) {
      auto kind = static_cast<Kind>(random_.below(reads_of.size()));
      if (kind == Kind::hold && !random_.once_in(4)) kind = Kind::update;  // each is waited for
      const auto used = some(reads_of[static_cast<std::size_t>(kind)] + 1);
      const std::size_t own = used.back();
      Value& value = values[own];
      if (random_.once_in(4)) held_.reset();
      switch (kind) {
        case Kind::set:
          value = static_cast<Value>(random_.below(1000));
          submit(set(tile(own), value));
          break;
        case Kind::update:
          if (last && random_.once_in(2)) {  // after an independent task
            submit(update(tile(own), value).after(*last));
          } else {
            insist(flow, [&] { last = flow.future(update(tile(own), value).on_done(ended)); });
            ++watched;
          }
          value = mixed(value, {7});
          break;
        case Kind::mix_one:
          submit(one(tile(used[0]), tile(own), values[used[0]], value).priority(i % 3));
          value = mixed(value, {values[used[0]]});
          break;
        case Kind::mix_two:
          submit(two(tile(used[0]), tile(used[1]), tile(own)));
          value = mixed(value, {values[used[0]], values[used[1]]});
          break;
        case Kind::mix_four:
          submit(four(tile(used[0]), tile(used[1]), tile(used[2]), tile(used[3]), tile(own)));
          value = mixed(value, {values[used[0]], values[used[1]], values[used[2]], values[used[3]]});
          break;
        case Kind::add:
          submit(add(tile(used[0]), tile(own)));
          value += values[used[0]];
          break;
        case Kind::reduce:  // several in a row, which may run concurrently
          for (auto n = 1 + random_.below(4); n > 0; --n) {
            submit(reduce(tile(used[0]), tile(own)));
            value += values[used[0]];
          }
          break;
        case Kind::hold: {
          // Until a later iteration, or until an operation needs it.
          held_.reset();
          insist(flow, [&] { held_.emplace(flow.acquire(fairlead::update(tile(own)))); });
          auto view = held_->get<0>();
          right(value_of(view), value);
          fill(view, value = mixed(value, {11}));
          break;
        }
        case Kind::hold_then:
          insist(flow, [&] {
            flow.acquire_then(
                [right, before = value](const Hold<InOut<Tile<Value>>>& hold) {
                  auto view = hold.template get<0>();
                  right(value_of(view), before);
                  fill(view, mixed(before, {13}));
                },
                fairlead::update(tile(own)));
          });
          value = mixed(value, {13});
          break;
      }
    }
    const auto check = somewhere("check", [right](Read t, Value value) { right(value_of(t), value); });
    for (std::size_t k = 0; k < values.size(); ++k) submit(check(tile(k), values[k]));
    insist(flow, [&] { flow.wait(); });
  }

  std::vector<Value> values;  // of the tiles after sequential execution of the tasks so far
  std::atomic<int> wrong = 0, calls = 0;
  int watched = 0;  // tasks with callbacks

 private:
  /// An operation that needs the held tile or its memory throws; then the hold is released.
  template <class What>
  void insist(Flow& flow, What&& what) {
    for (;;) {
      try {
        return what();
      } catch (const UsageError&) {
        if (!held_) throw;
      } catch (const FootprintError&) {
        if (!held_) flow.wait();  // an acquire needs memory in addition to the largest unfinished task
      }
      held_.reset();
    }
  }
  /// Tiles that differ; few of them are used often.
  std::vector<std::size_t> some(std::size_t count) {
    std::vector<std::size_t> chosen;
    while (chosen.size() < count) {
      const std::size_t tile = random_.below(random_.once_in(2) ? values.size() : 8);
      if (std::find(chosen.begin(), chosen.end(), tile) == chosen.end()) chosen.push_back(tile);
    }
    return chosen;
  }
  std::optional<Hold<InOut<Tile<Value>>>> held_;
  Random random_;
  bool devices_;
};

class RandomProgramsOnThreads : public testing::TestWithParam<std::string> {
 protected:
  static Config config_of(std::uint64_t seed, Random& random) {
    Config config;
    config.set("workers", 1 + seed % 4);
    config.set("scheduler", GetParam());
    // From the footprint of the largest task to more than all tiles.
    const auto kibibytes = random.once_in(4) ? std::int64_t{12 * rows * rows + 64} : random.between(64, 256);
    config.set("memory", std::to_string(kibibytes) + "KiB");
    config.set("spin", random.once_in(2) ? 0 : 50);
    config.set("bind-threads", false);
    config.set("window", random.once_in(2) ? 2048 : random.between(8, 100));
    return config;
  }
  static void run(const Config& config, std::uint64_t seed, bool devices) {
    Runtime runtime(config);
    const auto by_tile = generated_by([](TileView<Value> piece, std::int64_t row, std::int64_t column) {
      for (int j = 0; j < piece.columns(); ++j)
        for (int i = 0; i < piece.rows(); ++i) piece(i, j) = row / side * Value{rows} + column / side + 1;
    });
    const auto matrix = runtime.tiled<Value>("A", rows * side, rows * side, side, by_tile);
    Program program(seed, devices);
    Flow flow(runtime);
    program.submit(flow, matrix);
    ASSERT_EQ(program.wrong, 0) << "seed " << seed;
    ASSERT_EQ(program.calls, program.watched) << "seed " << seed;
  }
};

TEST_P(RandomProgramsOnThreads, ReadTheValuesOfSequentialExecution) {
  for (const std::uint64_t seed : tests::seeds_for(GetParam(), 1, 24)) {
    Random random(seed);
    run(config_of(seed, random), seed, false);
  }
}

TEST_P(RandomProgramsOnThreads, ReadThemOnDevices) {
  for (const std::uint64_t seed : tests::seeds_for(GetParam(), 1, 24, tests::address_sanitized ? 24 : 12)) {
    Random random(seed + 100);
    Config config = config_of(seed, random);
    config.set("memory", std::to_string(random.between(96, 256)) + "KiB");
    std::string devices;
    for (std::uint64_t i = 0, count = 1 + seed % 3; i < count; ++i) {
      const auto kibibytes = random.once_in(4) ? std::int64_t{12 * rows * rows} : random.between(60, 160);
      devices += std::string(i == 0 ? "" : " + ") + "emulated:memory=" + std::to_string(kibibytes) + "KiB";
      if (random.once_in(2)) devices += ",copies=blocking";
      if (random.once_in(2)) devices += ",peers=20GB/s";
      if (random.once_in(3)) devices += ",workers=2";
      if (random.once_in(3)) devices += ",speed=0.7";
    }
    config.set("devices", devices);
    run(config, seed, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, RandomProgramsOnThreads, testing::ValuesIn(tests::every_policy()),
                         tests::name_of_test);

}  // namespace
}  // namespace fairlead
