// What the default policy found for a program is there when that comes again.
#include "schedule/rehearsed/answers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::schedule::rehearsed {
namespace {

std::string found(Answers& answers, const Extent& asked) {
  const std::string* const known = answers.about(asked);
  return known == nullptr ? "nothing" : *known;
}

TEST(Answers, AreForWhatIsAsManyTasksOnAsManyBytesAndAboutAsLong) {
  Answers answers;
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "nothing");
  answers.remember("blocks");
  EXPECT_EQ(found(answers, {1015, 0.99e9, 1.2e9}), "blocks");
  EXPECT_EQ(found(answers, {1030, 1e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {1000, 1.03e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {1000, 1e9, 1.4e9}), "nothing");
}

TEST(Answers, WhatIsFoundForTheRestIsNotAnAnswerForAll) {
  Answers answers;
  answers.about({1000, 1e9, 1e9});
  answers.remember("blocks");
  answers.is_of_the_rest();
  answers.remember("near");
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "blocks");
  answers.remember("darts");  // asked for all of it once more
  EXPECT_EQ(found(answers, {1000, 1e9, 1e9}), "darts");
}

TEST(Answers, TheLastSixteenAreKept) {
  Answers answers;
  for (int i = 0; i <= static_cast<int>(Answers::most); ++i) {
    answers.about({100.0 * (1 << i), 1e9, 1e9});
    answers.remember("p" + std::to_string(i));
  }
  EXPECT_EQ(found(answers, {100, 1e9, 1e9}), "nothing");
  EXPECT_EQ(found(answers, {200, 1e9, 1e9}), "p1");
  EXPECT_EQ(found(answers, {100.0 * (1 << Answers::most), 1e9, 1e9}), "p16");
}

}  // namespace
}  // namespace fairlead::schedule::rehearsed
