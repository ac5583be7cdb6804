// Lists of data: bodies that take any number of data, in flows, recordings, out of core, on devices and over ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "on_ranks.hpp"
#include "whole/every_policy.hpp"

namespace fairlead::lists {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Element = Tile<double>;
constexpr std::int32_t list_tile = 8;

Config list_config(const std::string& memory = "64MiB", const std::string& scheduler = "lws") {
  Config config;
  config.set("workers", 2);
  config.set("memory", memory);
  config.set("scheduler", scheduler);
  config.set("bind-threads", false);
  return config;
}

/// The first `count` tiles of a row of tiles.
std::vector<Handle<Element>> first_tiles(const TiledMatrix<double>& a, std::int32_t count) {
  std::vector<Handle<Element>> tiles;
  for (std::int32_t j = 0; j < count; ++j) tiles.push_back(a(0, j));
  return tiles;
}

const auto number_tile = codelet("number").cpu([](Out<Element> t, double value) {
  for (std::int32_t j = 0; j < t.columns(); ++j)
    for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = value;
});
/// Element i of the list is multiplied by i + 1; `sum` receives the sum of the new values.
const auto weigh = codelet("weigh")
                       .cpu([](Many<InOut<Element>> list, InOut<double> sum, double factor) {
                         double weight = 1;
                         for (const InOut<Element>& tile : list) {
                           for (std::int32_t j = 0; j < tile.columns(); ++j)
                             for (std::int32_t i = 0; i < tile.rows(); ++i) tile(i, j) *= weight * factor;
                           *sum += tile(tile.rows() - 1, tile.columns() - 1);
                           ++weight;
                         }
                       })
                       .emulated();
const auto total_of = codelet("total").cpu([](Out<double> total, const Many<In<Element>>& list) {
  *total = 0;
  for (std::size_t i = 0; i < list.size(); ++i) *total += list[i](0, 0);
});

/// The sum of (i + 1)^2 for the values i + 1 of the tiles: what weigh() leaves.
double sum_of_squares(std::int32_t count) {
  double sum = 0;
  for (std::int32_t i = 1; i <= count; ++i) sum += static_cast<double>(i) * i;
  return sum;
}

template <class Expected, class Call>
std::string text_of_error(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

class ListOfLength : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Lengths, ListOfLength, testing::Values(1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 500));

}  // namespace

TEST_P(ListOfLength, ATaskReadsAndChangesAllOfThem) {
  const std::int32_t count = GetParam();
  Runtime runtime(list_config());
  const auto a = runtime.tiled<double>("A", list_tile, std::int64_t{list_tile} * count, list_tile);
  double sum = 0, total = 0;
  const auto hsum = runtime.value("sum", sum), htotal = runtime.value("total", total);
  const auto tiles = first_tiles(a, count);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < count; ++j) flow.submit(number_tile(a(0, j), j + 1.0));
  flow.submit(weigh(tiles, hsum, 1));
  flow.submit(total_of(htotal, tiles));
  flow.wait();
  EXPECT_EQ(sum, sum_of_squares(count));
  EXPECT_EQ(total, sum_of_squares(count));
}

// Memory holds the data of one task and no more, so that every task replaces all of the previous one's.
TEST_P(ListOfLength, ATaskRunsInMemoryForJustItsData) {
  const std::int32_t count = GetParam();
  constexpr Bytes page = 4096, least = Bytes{64} << 10;  // of a runtime
  Config config = list_config();
  config.set("memory", std::max(page * static_cast<Bytes>(count), least));
  Runtime runtime(config);
  const auto a = runtime.tiled<double>("A", list_tile, std::int64_t{list_tile} * count, list_tile);
  const auto b = runtime.tiled<double>("B", list_tile, std::int64_t{list_tile} * count, list_tile);
  double sum = 0;
  const auto hsum = runtime.value("sum", sum);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < count; ++j) {
    flow.submit(number_tile(a(0, j), j + 1.0));
    flow.submit(number_tile(b(0, j), j + 1.0));
  }
  for (int round = 0; round < 3; ++round) {
    flow.submit(weigh(first_tiles(a, count), hsum, 0.5));
    flow.submit(weigh(first_tiles(b, count), hsum, 0.5));
  }
  flow.wait();
  double expected = 0;
  for (int round = 1; round <= 3; ++round)
    for (std::int32_t i = 1; i <= count; ++i) {
      double value = i;
      for (int k = 0; k < round; ++k) value *= 0.5 * i;
      expected += 2 * value;
    }
  EXPECT_NEAR(sum, expected, 1e-12 * expected);
  EXPECT_EQ(runtime.statistics().nodes[0].evictions > 0, 2 * page * static_cast<Bytes>(count) > least);
}

TEST_P(ListOfLength, ARecordingRepeatsTheTask) {
  const std::int32_t count = GetParam();
  Runtime runtime(list_config());
  const auto a = runtime.tiled<double>("A", list_tile, std::int64_t{list_tile} * count, list_tile);
  double sum = 0, total = 0;
  const auto hsum = runtime.value("sum", sum), htotal = runtime.value("total", total);
  const auto tiles = first_tiles(a, count);
  Recording step(runtime);
  for (std::int32_t j = 0; j < count; ++j) step.submit(number_tile(a(0, j), j + 1.0));
  step.submit(weigh(tiles, hsum, 1));
  step.submit(total_of(htotal, tiles));
  for (int run = 1; run <= 3; ++run) {
    total = 0;
    step.run();
    EXPECT_EQ(sum, run * sum_of_squares(count));
    EXPECT_EQ(total, sum_of_squares(count));
  }
}

class ListsUnderEveryPolicy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ListsUnderEveryPolicy, testing::ValuesIn(tests::every_policy()),
                         tests::name_of_test);

// Overlapping windows of a row of tiles, of which a third fits into memory.
TEST_P(ListsUnderEveryPolicy, OverlappingListsOutOfCore) {
  constexpr std::int32_t tiles = 240, window = 70;
  Runtime runtime(list_config("320KiB", GetParam()));
  const auto a = runtime.tiled<double>("A", list_tile, std::int64_t{list_tile} * tiles, list_tile);
  std::vector<double> expected(tiles);
  double sum = 0, expected_sum = 0;
  const auto hsum = runtime.value("sum", sum);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < tiles; ++j) {
    expected[static_cast<std::size_t>(j)] = j % 7;
    flow.submit(number_tile(a(0, j), j % 7));
  }
  for (std::int32_t round = 0; round < 60; ++round) {
    std::vector<Handle<Element>> list;
    for (std::int32_t k = 0; k < window; ++k) {
      const std::int32_t j = (round * 37 + k) % tiles;
      list.push_back(a(0, j));
      double& value = expected[static_cast<std::size_t>(j)];
      value *= (k + 1) * 0.03125;
      expected_sum += value;
    }
    flow.submit(weigh(list, hsum, 0.03125));
  }
  flow.wait();
  EXPECT_EQ(sum, expected_sum);  // the tasks run in the order of their access to the sum
}

TEST(Lists, SeveralListsAndSingleDataKeepTheirPlaces) {
  Runtime runtime(list_config());
  const auto a = runtime.tiled<double>("A", list_tile, 6 * list_tile, list_tile);
  double x = 2;
  const auto hx = runtime.value("x", x);
  const auto mix = codelet("mix").cpu([](Many<In<Element>> from, In<double> factor, Many<Out<Element>> to,
                                         Scratch<double> work, int power, InOut<Element> last) {
    EXPECT_EQ(work.size(), 3u);
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::int32_t c = 0; c < to[i].columns(); ++c)
        for (std::int32_t r = 0; r < to[i].rows(); ++r) to[i](r, c) = from[i](r, c) * *factor + power;
    last(0, 0) = static_cast<double>(from.size() * 10 + to.size());
  });
  Flow flow(runtime);
  for (std::int32_t j = 0; j < 6; ++j) flow.submit(number_tile(a(0, j), j));
  const std::vector<Handle<Element>> from{a(0, 1), a(0, 2), a(0, 1)}, to{a(0, 3), a(0, 4)};
  flow.submit(mix(from, hx, to, scratch(3), 5, a(0, 5)));
  const auto hold = flow.acquire(read(a(0, 3)), read(a(0, 4)), read(a(0, 5)));
  EXPECT_EQ(hold.get<0>()(1, 1), 1 * 2 + 5);
  EXPECT_EQ(hold.get<1>()(2, 3), 2 * 2 + 5);
  EXPECT_EQ(hold.get<2>()(0, 0), 32);
}

TEST(Lists, FormulasGetTheHandles) {
  Runtime runtime(list_config());
  const auto a = runtime.tiled<double>("A", list_tile, 5 * list_tile, list_tile);
  std::size_t seen = 0;
  const auto touch = codelet("touch").cpu([](Many<InOut<Element>>) {}).flops([&](auto list) {
    seen = list.size();
    return 1.0;
  });
  Flow flow(runtime);
  for (std::int32_t j = 0; j < 5; ++j) flow.submit(number_tile(a(0, j), j));
  flow.submit(touch(first_tiles(a, 5)));
  flow.wait();
  EXPECT_EQ(seen, 5u);
}

TEST(Lists, ABodyMayFinishLater) {
  Runtime runtime(list_config());
  const auto a = runtime.tiled<double>("A", list_tile, 70 * list_tile, list_tile);
  double total = 0;
  const auto htotal = runtime.value("total", total);
  const auto later = codelet("later").cpu([](Completion done, Many<In<Element>> list, InOut<double> sum) {
    std::thread([=] {
      for (const auto& tile : list) *sum += tile(3, 3);
      done.done();
    }).detach();
  });
  Flow flow(runtime);
  for (std::int32_t j = 0; j < 70; ++j) flow.submit(number_tile(a(0, j), 1));
  flow.submit(later(first_tiles(a, 70), htotal));
  flow.wait();
  EXPECT_EQ(total, 70);
}

TEST(Lists, DevicesGetThem) {
  Config config = list_config();
  config.set("devices", "emulated:memory=1MiB");
  Runtime runtime(config);
  const auto a = runtime.tiled<double>("A", list_tile, 80 * list_tile, list_tile);
  double sum = 0;
  const auto hsum = runtime.value("sum", sum);
  const auto on_device = codelet("on device").emulated([](Many<InOut<Element>> list, InOut<double> total) {
    for (const auto& tile : list) *total += ++tile(0, 0);
  });
  Flow flow(runtime);
  for (std::int32_t j = 0; j < 80; ++j) flow.submit(number_tile(a(0, j), j));
  for (int round = 0; round < 3; ++round) flow.submit(on_device(first_tiles(a, 80), hsum));
  flow.wait();
  EXPECT_EQ(sum, 3 * 79 * 80 / 2 + 80 * (1 + 2 + 3));
}

TEST(Lists, RanksReceiveTheTilesOfOthers) {
  constexpr std::int32_t tiles = 300;
  const auto config = [](std::uint32_t) { return list_config("4MiB"); };
  const auto thrown = tests::on_ranks(3, config, [](Runtime& runtime) {
    const auto a =
        runtime.tiled<double>("A", list_tile, std::int64_t{list_tile} * tiles, list_tile,
                              Distribution([ranks = runtime.ranks()](std::int32_t, std::int32_t column) {
                                return static_cast<std::uint32_t>(column) % ranks;
                              }));
    const auto add_all = codelet("add all").cpu([](Many<In<Element>> list, InOut<Element> to) {
      for (const auto& tile : list) to(0, 0) += tile(0, 0);
    });
    const auto raise = codelet("raise").cpu([](Many<InOut<Element>> list) {
      for (const auto& tile : list) tile(0, 0) += 1000;
    });
    Flow flow(runtime);
    for (std::int32_t j = 0; j < tiles; ++j) flow.submit(number_tile(a(0, j), j));
    std::vector<Handle<Element>> others = first_tiles(a, tiles);
    others.erase(others.begin() + 4);
    flow.submit(add_all(others, a(0, 4)));
    flow.submit(raise(first_tiles(a, 150)).on_rank(2));
    flow.wait();
    for (const std::int32_t j : {4, 7, 149, 150}) {
      if (static_cast<std::uint32_t>(j) % runtime.ranks() != runtime.rank()) continue;
      const auto hold = flow.acquire(read(a(0, j)));
      const double value = j == 4 ? tiles * (tiles - 1) / 2 : j;
      EXPECT_EQ(hold.get<0>()(0, 0), value + (j < 150 ? 1000 : 0));
    }
  });
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
}

// ---- mistakes

class WrongLists : public testing::Test {
 protected:
  Runtime runtime{list_config()};
  TiledMatrix<double> a = runtime.tiled<double>("A", list_tile, 100 * list_tile, list_tile);
  double sum = 0;
  Handle<double> hsum = runtime.value("sum", sum);
  Flow flow{runtime};
  void SetUp() override {
    for (std::int32_t j = 0; j < 100; ++j) flow.submit(number_tile(a(0, j), j));
  }
  std::string refused(const std::vector<Handle<Element>>& list) {
    return text_of_error<UsageError>([&] { flow.submit(weigh(list, hsum, 1)); });
  }
};

TEST_F(WrongLists, AreEmpty) {
  EXPECT_THAT(refused({}), AllOf(HasSubstr("weigh"), HasSubstr("an empty list")));
}
TEST_F(WrongLists, HaveHandlesWithoutDatum) {
  EXPECT_THAT(refused({a(0, 0), {}, a(0, 1)}),
              AllOf(HasSubstr("weigh"), HasSubstr("empty handle"), HasSubstr("many_test.cpp:")));
}
TEST_F(WrongLists, ChangeADatumTwice) {
  EXPECT_THAT(refused({a(0, 7), a(0, 8), a(0, 7)}),
              AllOf(HasSubstr("A[0,7] twice"), HasSubstr("many_test.cpp:")));
  std::vector<Handle<Element>> long_list = first_tiles(a, 99);
  long_list.push_back(a(0, 50));
  EXPECT_THAT(refused(long_list), HasSubstr("A[0,50] twice"));
}
TEST_F(WrongLists, ChangeADatumThatTheTaskAlsoReads) {
  const auto both = codelet("both").cpu([](In<Element>, Many<In<Element>>, Many<InOut<Element>>) {});
  const auto list = [&](std::int32_t j) { return std::vector{a(0, j)}; };
  EXPECT_THAT(text_of_error<UsageError>([&] { flow.submit(both(a(0, 1), list(2), list(2))); }),
              HasSubstr("A[0,2] twice"));
  EXPECT_THAT(text_of_error<UsageError>([&] { flow.submit(both(a(0, 1), list(2), list(1))); }),
              HasSubstr("A[0,1] twice"));
  flow.submit(both(a(0, 1), list(1), list(2)));  // reading twice is allowed
  flow.wait();
}
TEST_F(WrongLists, HaveDataThatWereRemovedOrNotWritten) {
  const auto b = runtime.tiled<double>("B", list_tile, list_tile, list_tile);
  EXPECT_THAT(refused({a(0, 0), b(0, 0)}), HasSubstr("B[0,0], which nothing has written yet"));
  std::vector<Handle<Element>> dangling{a(0, 0)};
  {
    const auto gone = runtime.tiled<double>("gone", list_tile, list_tile, list_tile);
    flow.submit(number_tile(gone(0, 0), 1));
    flow.wait();
    dangling.push_back(gone(0, 0));
  }
  EXPECT_THAT(refused(dangling), HasSubstr("no longer exists"));
}
TEST_F(WrongLists, CannotBeAPlace) {
  EXPECT_THAT(text_of_error<UsageError>([&] { flow.submit(weigh(first_tiles(a, 3), hsum, 1).where(0)); }),
              HasSubstr("not a datum"));
}
TEST(WrongListsInMemory, NeedMoreThanThereIs) {
  Runtime runtime(list_config("256KiB"));
  const auto a = runtime.tiled<double>("A", list_tile, 100 * list_tile, list_tile);
  double sum = 0;
  const auto hsum = runtime.value("sum", sum);
  Flow flow(runtime);
  for (std::int32_t j = 0; j < 100; ++j) flow.submit(number_tile(a(0, j), j));
  EXPECT_THAT(text_of_error<FootprintError>([&] { flow.submit(weigh(first_tiles(a, 100), hsum, 1)); }),
              AllOf(HasSubstr("weigh"), HasSubstr("at once"), HasSubstr("many_test.cpp:")));
  flow.submit(weigh(first_tiles(a, 60), hsum, 1));
  flow.wait();
}

}  // namespace fairlead::lists
