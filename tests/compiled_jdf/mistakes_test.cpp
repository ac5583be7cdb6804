// Compiled graphs with a surplus or missing edge end with an error that names the edge. A type that such a
// graph cannot take from memory is refused with its position in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <string>

#include "compiled_jdf/compiled.hpp"
#include "compiled_jdf/dealt.hpp"
#include "mistakes.hpp"
#include "on_ranks.hpp"

namespace fairlead::compiled_jdf {
namespace {

using ptg::Part;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t mistakes_rows = 10 * 8;
constexpr int no_step = -1;

/// Runs on `ranks` ranks; returns all thrown messages.
std::string run_mistakes(std::int32_t ranks, int surplus, int missing, const std::optional<Part>& open,
                         Plain<double>& a) {
  const auto config = [](std::uint32_t) { return config_of_rank("16MiB"); };
  const Plain<double> before = a;
  std::mutex mutex;
  std::string all;
  for (const std::string& thrown :
       tests::on_ranks(static_cast<std::uint32_t>(ranks), config, [&](Runtime& runtime) {
         const Distribution owners(CyclicMap{ranks, 1});
         Dealt<double> dealt(runtime, before, 8, &owners);
         ptg::Graph graph(runtime);
         mistakes(graph, dealt.descriptor(), surplus, missing, {.type_OPEN = open});
         graph.run();
         const std::lock_guard guard(mutex);
         dealt.take(a);
       }))
    all += thrown;
  return all;
}

class CompiledMistakes : public testing::TestWithParam<std::int32_t> {
 protected:
  std::string error(int surplus, int missing, const std::optional<Part>& open = Part()) {
    return run_mistakes(GetParam(), surplus, missing, open, a);
  }
  Plain<double> a = random_matrix<double>(mistakes_rows, 8, 1);
};

TEST_P(CompiledMistakes, SoundGraphsRun) {
  const Plain<double> before = a;
  EXPECT_EQ(error(no_step, no_step), "");
  for (std::int64_t i = 0; i < mistakes_rows; ++i) EXPECT_EQ(a(i, 3), 6 * before(i, 3)) << i;
}

TEST_P(CompiledMistakes, ASurplusEdgeIsNamed) {
  EXPECT_THAT(error(3, no_step),
              HasSubstr("mistakes.jdf:16: the flow \"T\" of GIVE(3) goes to the flow \"U\" of TAKE(4, 0)"));
}

// As in PaRSEC, and as DPLASMA's files require: their outputs do not state where a space ends.
TEST_P(CompiledMistakes, AnOutputToATaskThatDoesNotExistIsSkipped) {
  const Plain<double> before = a;
  EXPECT_EQ(error(9, no_step), "");
  for (std::int64_t i = 0; i < mistakes_rows; ++i) EXPECT_EQ(a(i, 3), 6 * before(i, 3)) << i;
}

TEST_P(CompiledMistakes, AMissingEdgeIsNamed) {
  EXPECT_THAT(error(no_step, 5), AllOf(HasSubstr("TAKE(5, 0)"), HasSubstr("GIVE(5)")));
}

TEST_P(CompiledMistakes, ChangingACopyOfAPartIsRefused) {
  const std::string lower = error(no_step, no_step, Part::lower());
  EXPECT_THAT(lower, HasSubstr("mistakes.jdf:14:25: a task changes this value as a copy of the type OPEN"));
  EXPECT_THAT(lower, HasSubstr("let a task READ the datum and forward it with the type"));
  const std::string unknown = error(no_step, no_step, std::nullopt);
  EXPECT_THAT(unknown, HasSubstr("mistakes.jdf:14:25: "));
  EXPECT_THAT(unknown, HasSubstr(".type_OPEN"));
}

INSTANTIATE_TEST_SUITE_P(OnRanks, CompiledMistakes, testing::Values(1, 2, 3));

}  // namespace
}  // namespace fairlead::compiled_jdf
