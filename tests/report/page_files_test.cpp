// The files of pages are embedded, and colours are read from them.
#include "report/html/page_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <set>
#include <string>

#include "report/html/charts/colours.hpp"

namespace fairlead::report::html {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(PageFiles, AreEmbeddedUnchanged) {
  EXPECT_THAT(page_file("page/page.html"), StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(page_file("run/words.js"), HasSubstr("\\u00b5s"));  // the escape sequence, not the character
  EXPECT_GE(page_files().size(), 30u);
}

TEST(PageFiles, AMissingOneIsAnInternalError) { EXPECT_THROW(page_file("run/none.js"), Error); }

TEST(PageFiles, MarkupIsSubstitutedOnce) {
  EXPECT_EQ(fill_template("<a>{{x}}</a>{{y}}{{x}}", {{"x", "{{y}}"}, {"y", "2"}}), "<a>{{y}}</a>2{{y}}");
  EXPECT_EQ(fill_template("plain", {}), "plain");
  EXPECT_THROW(fill_template("{{z}}", {{"x", "1"}}), Error);
}

TEST(Colours, AreThoseOfTheStyleForItsPaper) {
  EXPECT_EQ(colour("paper"), "#fff");
  EXPECT_NE(colour("paper", Paper::dark), colour("paper"));
  EXPECT_EQ(colour("l3", Paper::dark), colour("l3"));  // lines are the same on both
  EXPECT_THROW(colour("none"), Error);
}

TEST(Colours, OfLinesDifferUntilTheyRepeat) {
  std::set<std::string_view> all;
  for (std::size_t line = 0; line < line_colours; ++line) all.insert(line_colour(line));
  EXPECT_EQ(all.size(), line_colours);
  EXPECT_EQ(line_colour(line_colours), line_colour(0));
}

}  // namespace
}  // namespace fairlead::report::html
