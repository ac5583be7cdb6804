// The tables of a page agree with the text report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "report/example.hpp"
#include "report/html/page.hpp"

namespace fairlead::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A recorded run of one task that took so long.
trace::Snapshot one_task_of(std::int64_t milliseconds) {
  trace::Snapshot recorded;
  recorded.workers = {"worker 0"};
  recorded.codelets = {"gemm"};
  trace::TaskRecord task;
  task.worker = WorkerId{0};
  task.set_duration(std::chrono::milliseconds(milliseconds));
  recorded.tasks = {task};
  return recorded;
}

TEST(HtmlPage, ShowsTheAccuracyOfTheSolution) {
  RunReport report = example();
  EXPECT_THAT(html_page(report, {}), Not(HasSubstr("condition")));
  report.condition =
      ConditionReport{.number = 1.2e6, .forward_error = 3.4e-9, .digits = 8, .seconds = 0.25, .sweeps = 4};
  const std::string page = html_page(report, {});
  EXPECT_THAT(page, HasSubstr("<th>condition</th><td>1.2e+06</td>"));
  EXPECT_THAT(
      page,
      HasSubstr("<th>forward error</th><td>3.4e-09</td><td class=\"note\">at most, which leaves 8 digits"));
}

TEST(HtmlPage, HasNoRatioToAnAbsentBound) {
  RunReport report = example();
  report.bounds = IoBounds{};
  EXPECT_THAT(html_page(report, {}), Not(HasSubstr("inf x")));
}

// The axis shows the whole run, the figure only the counted phases: the page states a difference.
TEST(HtmlPage, StatesWhereItsAxisShowsMoreThanItsTime) {
  const auto page_of = [](std::int64_t milliseconds) {
    return html_page(example(), one_task_of(milliseconds));
  };
  EXPECT_THAT(page_of(10'500), HasSubstr("<dt>time</dt><dd>8.60 s</dd>"));
  EXPECT_THAT(page_of(10'500), HasSubstr("of 10.5 s that are shown below"));
  EXPECT_THAT(page_of(8'600), Not(HasSubstr("that are shown below")));
  EXPECT_THAT(html_page(example(), {}), Not(HasSubstr("that are shown below")));
}

TEST(HtmlPage, NamesItsRanksInTheTitle) {
  const auto title = [](const RunReport& report) {
    const std::string page = html_page(report, {});
    const std::size_t from = page.find("<title>"), to = page.find("</title>");
    return page.substr(from, to - from);
  };
  RunReport report = example();
  EXPECT_THAT(title(report), HasSubstr("Cholesky solve, n = 16,384"));
  EXPECT_THAT(title(report), Not(HasSubstr("ranks")));
  report.ranks.resize(3);
  EXPECT_THAT(title(report), HasSubstr("Cholesky solve, n = 16,384, 3 ranks"));
}

// A share has the same name in the figures, in the table of workers and in the limiting factor.
TEST(HtmlPage, NamesAShareOfTimeConsistently) {
  RunReport report = example();
  ASSERT_TRUE(report.limiting);
  const std::string page = html_page(report, {});
  EXPECT_THAT(page, HasSubstr("<dt>workers computed</dt><dd>94 %</dd>"));
  EXPECT_THAT(page, HasSubstr("workers computed for 94 % of the time"));
  EXPECT_THAT(page, HasSubstr("<th>computed</th>"));
}

}  // namespace
}  // namespace fairlead::report
