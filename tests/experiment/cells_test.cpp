// Labels and claims may contain any characters: a cell stays one cell.
#include "report/table_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/output_formats.hpp"

namespace fairlead::experiment {
namespace {

using testing::HasSubstr;

TEST(Cells, OfCsvAreInQuotesWhereTheyHaveToBe) {
  EXPECT_EQ(report::csv_cell("darts"), "darts");
  EXPECT_EQ(report::csv_cell("darts", true), "\"darts\"");
  EXPECT_EQ(report::csv_cell("static, prefetch"), "\"static, prefetch\"");
  EXPECT_EQ(report::csv_cell("the \"best\""), "\"the \"\"best\"\"\"");
}

TEST(Cells, OfMarkdownDoNotEndEarly) {
  EXPECT_EQ(report::markdown_cell("|a - b|\nis small"), "\\|a - b\\| is small");
}

TEST(Cells, OfAnExperimentAreWrittenSo) {
  Experiment experiment;
  experiment.sweep = "n";
  experiment.metrics = {Metric::gflops};
  experiment.lines = {{.label = "a \"b\" | c", .scheduler = "eager", .other = {}, .note = {}}};
  Figures figures;
  figures.gflops = 12;
  const Table table{.x = {1}, .series = {{"a \"b\" | c", {figures}, {{figures}}, {}}}};
  EXPECT_THAT(csv(experiment, table), HasSubstr("\n\"a \"\"b\"\" | c\",1,"));
  EXPECT_THAT(markdown(experiment, table), HasSubstr("| a \"b\" \\| c | 12.0 |"));
}

}  // namespace
}  // namespace fairlead::experiment
