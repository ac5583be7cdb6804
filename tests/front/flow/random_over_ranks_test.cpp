// Random programs over ranks: reductions by two operations, commutative tasks, pure writes, changes and reads
// of the same tiles, each task on any rank, by two flows. Every value that a task reads is compared with that
// of a sequential run with plain numbers. A tile whose elements differ is torn.
#include <gtest/gtest.h>
#include <fairlead/flow.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "on_ranks.hpp"

namespace fairlead::random_over_ranks {
namespace {

using Number = std::int64_t;
using Element = Tile<Number>;

enum class Kind : std::uint8_t { set, change, mix, look, add, raise, add_alone, wait, drop_copies };

struct Step {
  Kind kind = Kind::set;
  std::int32_t tile = 0, other = 0;  // the tile that it changes, and another that it reads
  Number amount = 0;
  int on_rank = -1;
  std::size_t flow = 0;
  Number before = 0, of_other = 0;  // what it reads, by the program's order
};

Number changed(Number before, Number amount) { return (before * 31 + amount) % 1'000'003; }

struct Program {
  std::uint32_t ranks = 2;
  std::int32_t tiles = 1;
  std::vector<Step> steps;
  std::vector<Number> at_the_end;
};

/// The generated value of a tile.
Number generated(std::int64_t tile) { return 5 * tile + 2; }

Program random_program(Random& random) {
  Program it;
  it.ranks = static_cast<std::uint32_t>(2 + random.below(3));
  it.tiles = static_cast<std::int32_t>(1 + random.below(5));
  for (std::int32_t tile = 0; tile < it.tiles; ++tile) it.at_the_end.push_back(generated(tile));
  const std::size_t length = 15 + random.below(60);
  while (it.steps.size() < length) {
    Step step;
    step.kind = static_cast<Kind>(random.below(7));
    if (random.once_in(25)) step.kind = random.once_in(2) ? Kind::wait : Kind::drop_copies;
    step.tile = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(it.tiles)));
    step.other = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(it.tiles)));
    if (step.kind == Kind::mix && step.tile == step.other) step.kind = Kind::change;
    step.flow = random.below(random.once_in(4) ? 2 : 1);
    if (random.once_in(2)) step.on_rank = static_cast<int>(random.below(it.ranks));
    // Consecutive tasks that may run at the same time.
    const bool in_any_order =
        step.kind == Kind::add || step.kind == Kind::raise || step.kind == Kind::add_alone;
    for (std::uint64_t more = in_any_order ? 1 + random.below(8) : 1; more > 0; --more) {
      step.amount = static_cast<Number>(random.below(1000));
      Number& value = it.at_the_end[static_cast<std::size_t>(step.tile)];
      step.before = value;
      step.of_other = it.at_the_end[static_cast<std::size_t>(step.other)];
      if (step.kind == Kind::set) value = step.amount;
      if (step.kind == Kind::change) value = changed(value, step.amount);
      if (step.kind == Kind::mix) value = changed(value, step.of_other);
      if (step.kind == Kind::add || step.kind == Kind::add_alone) value += step.amount;
      if (step.kind == Kind::raise) value = std::max(value, 5'000 + step.amount);
      it.steps.push_back(step);
    }
  }
  return it;
}

/// The value of a tile whose elements are all equal; otherwise -1.
template <class T>
Number value_of(const T& tile) {
  for (std::int32_t j = 0; j < tile.columns(); ++j)
    for (std::int32_t i = 0; i < tile.rows(); ++i)
      if (tile(i, j) != tile(0, 0)) return -1;
  return tile(0, 0);
}
template <class T>
void fill(T& tile, Number value) {
  for (std::int32_t j = 0; j < tile.columns(); ++j)
    for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) = value;
}

/// Values that the tasks of one rank read and that differ from the sequential run.
class Reader {
 public:
  template <class T>
  Number read(const T& tile, Number expected) {
    const Number value = value_of(tile);
    if (value != expected) {
      const std::lock_guard guard(mutex_);
      wrong_.push_back(fmt::format("{} where {} is right", value, expected));
    }
    reads_.fetch_add(1);
    return value;
  }
  std::string first_wrong() const { return wrong_.empty() ? "" : wrong_.front(); }
  std::size_t reads() const { return reads_.load(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> wrong_;
  std::atomic<std::size_t> reads_{0};
};

/// Waits briefly for another task, so that short tasks that may overlap do.
class Company {
 public:
  void seek() {
    ++here_;
    for (int tries = 0; tries < 60 && here_.load() < 2; ++tries) std::this_thread::yield();
    --here_;
  }

 private:
  std::atomic<int> here_{0};
};

/// On cores and on devices.
template <class Body>
auto both(const char* name, const Body& body) {
  return codelet(name).cpu(body).emulated(body);
}

/// The program as one rank submits it.
class Submitter {
 public:
  Submitter(Runtime& runtime, const TiledMatrix<Number>& matrix, Reader& reader)
      : matrix_(matrix), reader_(reader), flows_{Flow(runtime), Flow(runtime)} {}

  void submit(const Step& step) {
    const auto t = matrix_(0, step.tile);
    switch (step.kind) {
      case Kind::set:
        return place(step, set_(t, step.amount));
      case Kind::change:
        return place(step, change_(t, step.amount, step.before));
      case Kind::mix:
        return place(step, mix_(matrix_(0, step.other), t, step.of_other, step.before));
      case Kind::look:
        return place(step, look_(t, step.before));
      case Kind::add:
        return place(step, add_(t, step.amount));
      case Kind::raise:
        return place(step, raise_(t, 5'000 + step.amount));
      case Kind::add_alone:
        return place(step, add_alone_(t, step.amount));
      case Kind::wait:
        return flows_[step.flow].wait();
      case Kind::drop_copies:
        return flows_[step.flow].drop_copies(t);
    }
  }
  void wait() {
    for (Flow& flow : flows_) flow.wait();
  }
  Number value_at_home(std::int32_t tile) {
    const auto hold = flows_[0].acquire(read(matrix_(0, tile)));
    return value_of(hold.get<0>());
  }

 private:
  template <class Call>
  void place(const Step& step, Call&& call) {
    Flow& flow = flows_[step.flow];
    step.on_rank < 0
        ? flow.submit(call)
        : flow.submit(std::forward<Call>(call).on_rank(static_cast<std::uint32_t>(step.on_rank)));
  }
  const TiledMatrix<Number>& matrix_;
  Reader& reader_;
  Company company_;
  Codelet<Out<Element>, Number> set_ = both("set", [](Out<Element> t, Number amount) { fill(t, amount); });
  Codelet<InOut<Element>, Number, Number> change_ =
      both("change", [this](InOut<Element> t, Number amount, Number before) {
        fill(t, changed(reader_.read(t, before), amount));
      });
  Codelet<In<Element>, InOut<Element>, Number, Number> mix_ =
      both("mix", [this](In<Element> from, InOut<Element> t, Number of_other, Number before) {
        fill(t, changed(reader_.read(t, before), reader_.read(from, of_other)));
      });
  Codelet<In<Element>, Number> look_ =
      both("look", [this](In<Element> t, Number before) { reader_.read(t, before); });
  Codelet<Reduce<Element>, Number> add_ = both("add", [this](Reduce<Element> t, Number amount) {
    company_.seek();
    for (std::int32_t j = 0; j < t.columns(); ++j)
      for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) += amount;
  });
  Codelet<Reduce<Element, Maximum>, Number> raise_ =
      both("raise", [this](Reduce<Element, Maximum> t, Number to) {
        company_.seek();
        for (std::int32_t j = 0; j < t.columns(); ++j)
          for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = std::max(t(i, j), to);
      });
  Codelet<Commute<Element>, Number> add_alone_ =
      both("add alone", [](Commute<Element> t, Number amount) { fill(t, value_of(t) + amount); });
  std::array<Flow, 2> flows_;
};

/// The first error; counts the comparisons in `reads`.
void run(std::uint64_t seed, std::atomic<std::size_t>& reads) {
  Random random(Random::mix(seed));
  const Program program = random_program(random);
  const std::int32_t side = random.once_in(2) ? 6 : 36;
  const Bytes tile_bytes = side == 6 ? 4096 : 12288;  // in whole pages
  const bool tight = random.once_in(2), devices = random.once_in(4);
  const Bytes memory = tight ? std::max(Bytes{64} << 10, tile_bytes * (8 + random.below(4))) : Bytes{1} << 20;
  const std::uint64_t tree = random.once_in(2) ? 2 + random.below(2) : 0;
  const Bytes eager = random.once_in(2) ? 16384 : 64;
  const std::uint64_t workers = random.below(3);
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + (workers + i) % 4);
    config.set("memory", memory);
    config.set("bind-threads", false);
    config.set("broadcast-tree", tree);
    config.set("eager-limit", eager);
    if (devices) config.set("devices", "emulated:memory=128KiB");
    return config;
  };
  const auto by_column = generated_by([side](TileView<Number> piece, std::int64_t, std::int64_t column) {
    for (std::int32_t j = 0; j < piece.columns(); ++j)
      for (std::int32_t i = 0; i < piece.rows(); ++i) piece(i, j) = generated(column / side);
  });
  const Distribution in_turn([ranks = program.ranks](std::int32_t, std::int32_t column) {
    return static_cast<std::uint32_t>(column) % ranks;
  });
  const auto rank = [&](Runtime& runtime) {
    const auto matrix =
        runtime.tiled<Number>("A", side, std::int64_t{side} * program.tiles, side, in_turn, by_column);
    Reader reader;
    {
      Submitter submitter(runtime, matrix, reader);
      for (const Step& step : program.steps) submitter.submit(step);
      submitter.wait();
      EXPECT_EQ(reader.first_wrong(), "") << "seed " << seed << ", rank " << runtime.rank();
      for (std::int32_t i = 0; i < program.tiles; ++i)
        if (in_turn.owner(0, i) == runtime.rank()) {
          EXPECT_EQ(submitter.value_at_home(i), program.at_the_end[static_cast<std::size_t>(i)])
              << "tile " << i << ", seed " << seed;
        }
    }
    reads += reader.reads();
  };
  for (const std::string& text : tests::on_ranks(program.ranks, config_of, rank))
    EXPECT_EQ(text, "") << "seed " << seed;
}

/// In portions, so that none takes long with --long.
class RandomProgramsOverRanks : public testing::TestWithParam<int> {};

TEST_P(RandomProgramsOverRanks, ReadTheValuesOfASequentialRun) {
  const std::uint64_t seeds = tests::at_length() ? 500 : tests::many_cases() ? 12 : 2;
  const auto first = static_cast<std::uint64_t>(GetParam()) * 500;
  std::atomic<std::size_t> reads{0};
  for (std::uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) run(seed, reads);
  RecordProperty("reads", static_cast<int>(reads.load()));
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomProgramsOverRanks, testing::Range(0, 10));

}  // namespace
}  // namespace fairlead::random_over_ranks
