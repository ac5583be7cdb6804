// A recorded flow becomes a program; an invalid or incomplete file is refused with its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include <string>

#include "simulate/flow_file.hpp"

namespace fairlead::tests {
namespace {

using namespace simulate;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string head = "fairlead-flow 1\nphase 1\nfile 0 solver.cpp\n";
const std::string small = head +
                          "codelet 0 cpu none fill\n"
                          "datum 0 80000 0 1 0 empty A[1,0]\n"
                          "task 0 0:7 0 0 w0\n"
                          "datum 1 80000 0 0 0 empty A[0,0]\n"
                          "task 0 0:7 0 0 w1\n"
                          "phase 2\n"
                          "codelet 1 cpu,cuda flops gemm\n"
                          "datum 2 8 -1 -1 -1 value the sum\n"
                          "task 1 0:9 4 2e6 r0 rw1\n"
                          "task 1 0:9 0 1e3 c2\n"
                          "end 3 4\n";

FlowFile read(const std::string& text, std::optional<std::uint64_t> phase = {}) {
  return read_flow_text(text, "run.flow", Precision::double_, phase);
}
std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(FlowFile, IsAProgramWithTilesByPlace) {
  const FlowFile flow = read(small);
  const Program& program = flow.program;
  EXPECT_EQ(flow.phases, 2u);
  ASSERT_EQ(program.data.size(), 3u);
  EXPECT_THAT(program.names, ElementsAre("A[0,0]", "A[1,0]", "the sum"));
  EXPECT_THAT(program.collections, ElementsAre("A", "data"));
  EXPECT_THAT(program.kernels, ElementsAre("fill", "gemm"));
  ASSERT_EQ(program.tasks.size(), 4u);
  EXPECT_EQ(program.tasks[2].priority, 4);
  EXPECT_EQ(program.tasks[2].flops, 2e6f);
  EXPECT_EQ(program.tasks[2].side, 100.f);  // of a tile of 80,000 bytes in double precision
  EXPECT_EQ(program.uses[2].datum, DatumIndex{1});
  EXPECT_EQ(program.uses[2].mode, AccessMode::read);
  EXPECT_EQ(program.uses[3].datum, DatumIndex{0});
  EXPECT_EQ(program.uses[3].mode, AccessMode::read_write);
  EXPECT_FALSE(program.data[0].has_value);
  EXPECT_TRUE(program.data[2].has_value);
}
TEST(FlowFile, HasInALaterPhaseTheDataOfEarlierOnes) {
  const FlowFile flow = read(small, 2);
  ASSERT_EQ(flow.program.tasks.size(), 2u);
  EXPECT_TRUE(flow.program.data[0].has_value);
  EXPECT_THAT(flow.program.kernels, ElementsAre("gemm"));
  EXPECT_EQ(flow.counted, 2u);
  EXPECT_EQ(read(small, 1).program.data.size(), 2u);
  EXPECT_THROW(read(small, 3), ConfigError);
}
TEST(FlowFile, TakesWorkFromTheFormulaElseFromTheMeasuredTimeElseFromTheBytes) {
  const FlowFile flow = read(
      head +
      "codelet 0 cpu flops counted\ncodelet 1 cpu none measured\ncodelet 2 cpu none unknown\n"
      "codelet 3 cpu nanoseconds said\n"
      "datum 0 1000 -1 -1 -1 value a\ndatum 1 3000 -1 -1 -1 value b\n"
      "task 0 0:1 0 500 rw0\ntask 1 0:2 0 0 rw0\ntask 1 0:3 0 0 rw1\ntask 2 0:4 0 0 r0 rw1\n"
      "task 3 0:5 0 70 rw0\n"
      "duration cpu 1000 8 250 measured\nduration cuda 1000 8 2 measured\nduration cpu 1000 8 250 counted\n"
      "end 2 5\n");
  const auto& tasks = flow.program.tasks;
  EXPECT_EQ(tasks[0].flops, 500.f);
  EXPECT_EQ(tasks[1].flops, 2500.f);  // 250 ns
  EXPECT_EQ(tasks[2].flops, 7500.f);  // three times the bytes
  EXPECT_EQ(tasks[3].flops, 4000.f);  // bytes
  EXPECT_EQ(tasks[4].flops, 700.f);
  EXPECT_EQ(flow.counted, 1u);
  EXPECT_EQ(flow.measured, 3u);
  EXPECT_EQ(flow.assumed, 1u);
}
TEST(FlowFile, ReportsWhatIsNotSimulated) {
  const FlowFile flow = read(head +
                             "codelet 0 cpu none sum\ndatum 0 8 -1 -1 -1 value s\ntask 0 0:1 0 0 x0\n"
                             "left-out 1 tasks have scratch memory\nend 1 1\n");
  EXPECT_EQ(flow.program.uses[0].mode, AccessMode::commutative);
  EXPECT_THAT(flow.left_out, ElementsAre("1 tasks have scratch memory", HasSubstr("1 reductions")));
}
TEST(FlowFile, IsRefusedWithItsLine) {
  EXPECT_THAT(refusal(""), HasSubstr("run.flow:1: the file is incomplete"));
  EXPECT_THAT(refusal("name = \"h200\"\n"), HasSubstr("run.flow:1: this is no recorded flow"));
  EXPECT_THAT(refusal("fairlead-flow 2\n"),
              HasSubstr("run.flow:1: version \"2\" of recorded flows is not known"));
  EXPECT_THAT(refusal(small.substr(0, small.size() - 8)), HasSubstr("run.flow:14: the file is incomplete"));
  EXPECT_THAT(refusal(small.substr(0, small.size() - 12)),
              HasSubstr("run.flow:13: the file ends in the middle"));
  EXPECT_THAT(refusal(small + "phase 3\n"), HasSubstr("run.flow:15: the file goes on after its end"));
  EXPECT_THAT(refusal(head + "end 0 1\n"),
              HasSubstr("run.flow:4: lines are missing: there are 0 data and 0 tasks"));
  EXPECT_THAT(refusal(head + "tusk 0\n"), HasSubstr("run.flow:4: a line about \"tusk\" is not known"));
  // Invalid bytes are escaped: they may contain control characters of a terminal.
  EXPECT_THAT(refusal(head + "\x1b[2J\x80" + std::string(100, 'x') + "\n"),
              HasSubstr("a line about \"?[2J?" + std::string(35, 'x') + "...\" is not known"));
  EXPECT_THAT(refusal(head + "task 0 0:1 0 0 r0\n"), HasSubstr("run.flow:4: there is no codelet 0 yet"));
  const std::string with_codelet = head + "codelet 0 cpu none c\ndatum 0 8 -1 -1 -1 value d\n";
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1 0 0 r1\n"),
              HasSubstr("run.flow:6: there is no datum 1 yet"));
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1 0 0 z0\n"),
              HasSubstr("run.flow:6: \"z\" is no kind of access"));
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1 0 0 r0 w0\n"),
              HasSubstr("run.flow:6: datum 0 is used twice"));
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1 0 -3 r0\n"),
              HasSubstr("run.flow:6: an amount of work must be from 0 to"));
  for (const char* work : {"nan", "inf", "3e38"})
    EXPECT_THAT(refusal(with_codelet + "task 0 0:1 0 " + work + " r0\n"),
                HasSubstr("run.flow:6: an amount of work must be"));
  EXPECT_THAT(refusal(with_codelet + "duration cpu 8 1 -1 c\n"),
              HasSubstr("run.flow:6: a duration must be from 0 to"));
  EXPECT_THAT(refusal(with_codelet + "duration cpu 8 1 nan c\n"),
              HasSubstr("run.flow:6: a duration must be"));
  // What comes after the last row and column is counted, and policies have tables of them.
  EXPECT_THAT(refusal(with_codelet + "datum 1 8 0 2147483647 0 value d\n"),
              HasSubstr("run.flow:6: a row must be from -1"));
  EXPECT_THAT(refusal(with_codelet + "datum 1 8 0 0 2147483647 value d\n"),
              HasSubstr("run.flow:6: a column must be"));
  EXPECT_THAT(refusal(with_codelet + "datum 1 18446744073709551615 0 0 0 value d\n"),
              HasSubstr("run.flow:6: a count of bytes must be"));
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1 high 0 r0\n"), HasSubstr("\"high\" is not a priority"));
  EXPECT_THAT(refusal(with_codelet + "task 0 0:1\n"), HasSubstr("run.flow:6: a priority is missing"));
  EXPECT_THAT(refusal(with_codelet + "datum 2 8 -1 -1 -1 value d\n"),
              HasSubstr("run.flow:6: this should be datum 1"));
  EXPECT_THAT(
      refusal(with_codelet + "unrecorded f(x) uses parts of data\n"),
      HasSubstr("run.flow:6: from here on the program could not be recorded: f(x) uses parts of data"));
}

}  // namespace fairlead::tests
