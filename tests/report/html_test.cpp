// The tables of a page tell what the text tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/example.hpp"
#include "report/html/page.hpp"

namespace fairlead::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlPage, SaysHowFarTheSolutionCanBeTrusted) {
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

TEST(HtmlPage, WithoutALeastThatHasToMoveIsNotDividedByIt) {
  RunReport report = example();
  report.bounds = IoBounds{};
  EXPECT_THAT(html_page(report, {}), Not(HasSubstr("inf x")));
}

}  // namespace
}  // namespace fairlead::report
