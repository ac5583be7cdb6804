// fairlead compare: every policy against the first, over neighbouring sizes and seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "command/answer.hpp"

namespace fairlead {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

class Compare : public testing::Test {
 protected:
  ~Compare() override { std::filesystem::remove(path_); }

  Answer compare(const std::string& arguments) {
    Answer answer = fairlead_command("compare --json '" + path_ + "' " + arguments);
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    json_ = text.str();
    return answer;
  }
  /// Every number of that name, in the file's order.
  std::vector<double> numbers(const std::string& key) const {
    std::vector<double> found;
    const std::string quoted = '"' + key + "\":";
    for (std::size_t at = json_.find(quoted); at != json_.npos; at = json_.find(quoted, at + 1))
      found.push_back(std::strtod(json_.c_str() + at + quoted.size(), nullptr));
    return found;
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("fairlead-compare-" + std::to_string(getpid()) + ".json"))
          .string();
  std::string json_;
};

// On the machine of Figure 5, DARTS moves less than EAGER and is faster.
TEST_F(Compare, DefaultsToFigure5) {
  const Answer answer = compare("--scheduler eager,darts");
  ASSERT_EQ(answer.exit_code, 0) << answer.text;
  for (const char* said : {"cholesky, n = 36480, tile 1920, single", "n = 38400", "n = 40320", "v100-pcie"})
    EXPECT_THAT(answer.text, HasSubstr(said));
  const auto time = numbers("time_ratio"), bytes = numbers("bytes_ratio");
  ASSERT_EQ(time.size(), 2u);
  EXPECT_EQ(time[0], 1);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_LT(time[1], 0.95);
  EXPECT_LT(bytes[1], 0.5);
}

TEST_F(Compare, PrintsGeometricMeansOfTheRatiosOfItsRuns) {
  compare("--n 9600 --memory 200MB --scheduler eager,lws");
  const auto seconds = numbers("seconds");
  ASSERT_EQ(seconds.size(), 6u);  // three of each
  double product = 1, most = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    product *= seconds[3 + i] / seconds[i];
    most = std::max(most, seconds[3 + i] / seconds[i]);
  }
  EXPECT_THAT(numbers("time_ratio")[1], DoubleNear(std::cbrt(product), 1e-4));
  EXPECT_THAT(numbers("most_time_ratio")[1], DoubleNear(most, 1e-4));
}

TEST_F(Compare, RunsSeveralSeedsWithNoise) {
  compare("--n 9600 --neighbours 0 --seed 5 --noise 10 --scheduler eager,lws");
  EXPECT_THAT(numbers("seed"), testing::ElementsAre(5, 6, 7, 5, 6, 7));
  compare("--n 9600 --neighbours 0 --seed 5 --runs 2 --scheduler eager,lws");
  EXPECT_THAT(numbers("seed"), testing::ElementsAre(5, 6, 5, 6));
}

TEST_F(Compare, UsesTheDefaultsOfSimulateForANamedWorkload) {
  const Answer answer = compare("gemm --n 9600 --neighbours 0 --scheduler eager,darts");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("double"));
}

TEST_F(Compare, DoesNotOverrideGivenOptions) {
  EXPECT_THAT(compare("--precision double --n 9600 --neighbours 0").text, HasSubstr("tile 1920, double"));
}

}  // namespace
}  // namespace fairlead
