// The default policy reuses its result for a repeated program.
#include "schedule/what_if/result_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::schedule::what_if {
namespace {

std::string found(ResultCache& answers, const ProgramSize& asked) {
  const std::string* const known = answers.find(asked);
  return known == nullptr ? "nothing" : *known;
}

TEST(ResultCache, FindsProgramsWithSimilarTasksBytesAndDuration) {
  ResultCache answers;
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "nothing");
  answers.remember("blocks");
  EXPECT_EQ(found(answers, {1015, 0.99e9, 1.2e9}), "blocks");
  EXPECT_EQ(found(answers, {1030, 1e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {1000, 1.03e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {1000, 1e9, 1.4e9}), "nothing");
}

TEST(ResultCache, IgnoresResultsForTheRestOfAProgram) {
  ResultCache answers;
  answers.find({1000, 1e9, 1e9});
  answers.remember("blocks");
  answers.ignore_results();
  answers.remember("near");
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "blocks");
  answers.remember("darts");  // for the whole program again
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "darts");
}

TEST(ResultCache, KeepsTheLastSixteen) {
  ResultCache answers;
  for (int i = 0; i <= static_cast<int>(ResultCache::most); ++i) {
    answers.find({100.0 * (1 << i), 1e9, 1e9});
    answers.remember("p" + std::to_string(i));
  }
  EXPECT_EQ(found(answers, {100, 1e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {200, 1e9, 1e9}), "p1");
  EXPECT_EQ(found(answers, {100.0 * (1 << ResultCache::most), 1e9, 1e9}), "p16");
}

}  // namespace
}  // namespace fairlead::schedule::what_if
