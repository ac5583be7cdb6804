// Charts of experiments, as far as a program can look at them.
#include "experiment/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The first group of each match.
std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), wanted), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

/// Lines from 1 to 5, the k-th at heights k + 1.
Chart chart_of(std::size_t lines) {
  Chart chart{.title = "title", .x_label = "n", .y_label = "GFlop/s", .lines = {}};
  for (std::size_t k = 0; k < lines; ++k) {
    ChartLine& line = chart.lines.emplace_back();
    line.label = "line " + std::to_string(k);
    for (int x = 1; x <= 5; ++x) line.points.emplace_back(x, static_cast<double>(k + 1));
  }
  return chart;
}

ChartLine bound(std::string label, double height) {
  ChartLine line{.label = std::move(label), .points = {}, .bound = true};
  for (int x = 1; x <= 5; ++x) line.points.emplace_back(x, height);
  return line;
}

}  // namespace

TEST(Chart, TwentyFourLinesHaveTwentyFourColours) {
  const auto colours = all(svg(chart_of(24)), "<polyline [^>]*stroke=\"(#[0-9a-f]+)\"");
  EXPECT_EQ(colours.size(), 24u);
  EXPECT_EQ(std::set(colours.begin(), colours.end()).size(), 24u);
}

TEST(Chart, BeyondThatTheyDifferInTheirMarks) {
  const std::string text = svg(chart_of(40)), legend = text.substr(text.rfind("</g>\n<line"));
  std::set<std::string> looks;
  const auto marks = all(legend, "<((circle|polygon)[^>]*)/><text");
  for (const std::string& mark : marks)
    looks.insert(std::regex_replace(mark, std::regex(" (transform|cx|cy)=\"[^\"]*\""), ""));
  EXPECT_EQ(marks.size(), 40u);
  EXPECT_EQ(looks.size(), 40u);
}

TEST(Chart, EachBoundHasItsOwnDashes) {
  Chart chart = chart_of(2);
  for (const char* name : {"best", "critical path", "lower bound", "floor"})
    chart.lines.push_back(bound(name, 2.5));
  const auto dashes = all(svg(chart), "<polyline [^>]*stroke-dasharray=\"([^\"]*)\"");
  EXPECT_EQ(dashes.size(), 4u);
  EXPECT_EQ(std::set(dashes.begin(), dashes.end()).size(), 4u);
}

// What nothing comes near to would leave no room for what is compared.
TEST(Chart, ABoundFarAboveIsInTheLegendAndNotDrawn) {
  Chart chart = chart_of(3);
  chart.lines.push_back(bound("critical path", 2.9e6));
  const std::string text = svg(chart);
  EXPECT_THAT(text, HasSubstr("critical path: 2,900,000, beyond the axis"));
  EXPECT_EQ(all(text, "<(polyline)").size(), 3u);
  EXPECT_THAT(text, Not(HasSubstr(">1,000,000<")));
  EXPECT_THAT(text, HasSubstr(">3<"));  // the axis ends at what was measured
}

TEST(Chart, ABoundCloseAboveIsOnTheAxis) {
  Chart chart = chart_of(3);
  chart.lines.push_back(bound("best", 4));
  const std::string text = svg(chart);
  EXPECT_THAT(text, HasSubstr(">best<"));
  EXPECT_THAT(text, HasSubstr(">4<"));
  EXPECT_EQ(all(text, "<(polyline)").size(), 4u);
}

TEST(Chart, AtOneXThereAreBarsTheHighestFirst) {
  Chart chart = chart_of(24);
  for (ChartLine& line : chart.lines) line.points.resize(1);
  const std::string text = svg(chart);
  EXPECT_EQ(all(text, "<(polyline)").size(), 0u);
  EXPECT_EQ(all(text, "<(rect) x=").size(), 24u);
  EXPECT_LT(text.find(">line 23<"), text.find(">line 0<"));
}

TEST(Chart, ManyLinesAtThreeXAreThreeSetsOfBars) {
  Chart chart = chart_of(20);
  for (ChartLine& line : chart.lines) line.points.resize(3);
  EXPECT_EQ(all(svg(chart), "<(rect) x=").size(), 60u);
}

TEST(Chart, IsAsWideAsItsLongestLabel) {
  Chart chart = chart_of(2);
  chart.lines[1].label = std::string(120, 'w');
  const auto width = all(svg(chart), "viewBox=\"0 0 ([0-9]+)");
  ASSERT_EQ(width.size(), 1u);
  EXPECT_GT(std::stoi(width[0]), 120 * 7);
}

TEST(Chart, OfNothingIsAChart) {
  EXPECT_THAT(svg({.title = "", .x_label = "", .y_label = "", .lines = {}}), HasSubstr("</svg>"));
  EXPECT_THAT(svg({.title = "t", .x_label = "x", .y_label = "y", .lines = {bound("b", 1)}}),
              HasSubstr("</svg>"));
}

}  // namespace fairlead::experiment
