// Runs with several seeds as one line of a table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simulate/run_statistics.hpp"

namespace fairlead::tests {
namespace {

using namespace simulate;
using testing::HasSubstr;

RunOutcome run_of(double seconds, std::uint64_t seed, Bytes loaded) {
  RunOutcome outcome{.scheduler = "darts", .seed = seed, .problem = {}, .result = {}};
  outcome.result.seconds = seconds;
  outcome.result.bytes_to_devices = loaded;
  return outcome;
}

const Limits limits{
    .flops = 12e9, .time = {.compute = 1, .critical_path = 0}, .bus_limit_bytes = 0, .io = {}};

}  // namespace

TEST(Spread, IsTheMeanTheLeastAndTheMost) {
  PolicyStatistics runs{.scheduler = "darts"};
  runs.add(run_of(2, 7, 100), limits);
  runs.add(run_of(4, 8, 300), limits);
  RunOutcome failed = run_of(0, 9, 0);
  failed.problem = "no room";
  runs.add(failed, limits);
  const std::string line = csv_line(runs, "k40", "lu", {.n = 960, .tile = 96});
  EXPECT_THAT(line,
              testing::StartsWith("darts,k40,lu,960,96,double,7,3,2,3,2,4,4.5,3,6,37.5,25,50,200,100,300,"));
  EXPECT_THAT(line, testing::EndsWith(",,,,,,\n"));  // without a comparison
  runs.compare(run_of(2, 7, 100), run_of(4, 7, 50));
  EXPECT_THAT(csv_line(runs, "k40", "lu", {}), testing::EndsWith(",0.5,0.5,0.5,2,2,2\n"));
}

TEST(Spread, HasAsManyValuesAsNames) {
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  PolicyStatistics runs{.scheduler = "eager"};
  EXPECT_EQ(commas(csv_heading()), commas(csv_line(runs, "m", "w", {})));
  runs.add(run_of(2, 7, 100), limits);
  EXPECT_EQ(commas(csv_heading()), commas(csv_line(runs, "m", "w", {})));
}

TEST(Spread, QuotesTextWithCommas) {
  const PolicyStatistics runs{.scheduler = "./a \"b\",c.so"};
  EXPECT_THAT(csv_line(runs, "m", "w", {}), testing::StartsWith("\"./a \"\"b\"\",c.so\",m,w,"));
}

}  // namespace fairlead::tests
