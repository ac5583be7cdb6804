// Files written by the setting record-flow, for programs of all kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <fairlead/fairlead.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "front/flow/not_copied.hpp"
#include "simulate/flow_file.hpp"

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FlowFileWriter : public testing::Test {
 protected:
  ~FlowFileWriter() override { std::filesystem::remove(path); }
  Config config() const {
    Config config;
    config.set("workers", 2);
    config.set("memory", "16MiB");
    config.set("record-flow", path);
    return config;
  }
  std::string text() const {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  simulate::FlowFile flow() const { return simulate::read_flow_file(path, simulate::Precision::double_); }

  const std::string path =
      (std::filesystem::temp_directory_path() / ("fairlead-flow-" + std::to_string(getpid()))).string();
};

const auto set = codelet("set").cpu([](Out<double> x, double value) { *x = value; });
const auto add_up =
    codelet("add up").cpu([](In<double> x, InOut<double> y) { *y += *x; }).flops([](auto&, auto&) {
      return 1.0;
    });

TEST_F(FlowFileWriter, WritesDataCodeletsAndTasksInProgramOrder) {
  {
    Runtime runtime(config());
    double x = 0, y = 1;
    const auto hx = runtime.value("the x", x), hy = runtime.value("y", y);
    Flow flow(runtime);
    flow.submit(set(hx, 3.0).priority(7));
    flow.submit(add_up(hx, hy));
    flow.wait();
    flow.submit(add_up(hy, hx));
    flow.wait();
    EXPECT_EQ(x, 7);
  }
  const simulate::FlowFile recorded = flow();
  EXPECT_EQ(recorded.phases, 2u);
  EXPECT_THAT(recorded.program.names, ElementsAre("the x", "y"));
  EXPECT_THAT(recorded.program.kernels, ElementsAre("set", "add up"));
  ASSERT_EQ(recorded.program.tasks.size(), 3u);
  EXPECT_EQ(recorded.program.tasks[0].priority, 7);
  EXPECT_EQ(recorded.program.tasks[1].flops, 1.f);
  EXPECT_EQ(recorded.program.data[0].bytes, sizeof(double));
  EXPECT_EQ(recorded.program.uses[0].mode, AccessMode::write);
  EXPECT_EQ(recorded.program.uses[3].datum, simulate::DatumIndex{1});
  EXPECT_THAT(text(), HasSubstr("flow_file_writer_test.cpp"));
}
TEST_F(FlowFileWriter, DoesNotWriteATaskThatWasNotSubmitted) {
  const auto take = codelet("take").cpu([](InOut<double> x, const tests::NotCopied&) { ++*x; });
  {
    Runtime runtime(config());
    double x = 0;
    const auto hx = runtime.value("x", x);
    bool refuses = false;
    Flow flow(runtime);
    flow.submit(set(hx, 3.0));
    auto call = take(hx, tests::NotCopied(refuses));
    refuses = true;
    EXPECT_THROW(flow.submit(std::move(call)), std::runtime_error);
    flow.submit(set(hx, 4.0));
    flow.wait();
  }
  EXPECT_THAT(flow().program.kernels, ElementsAre("set"));
  EXPECT_EQ(flow().program.tasks.size(), 2u);
}
TEST_F(FlowFileWriter, WritesARecordingOncePerRun) {
  {
    Runtime runtime(config());
    double x = 1, y = 0;
    const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
    Recording step(runtime);
    step.submit(add_up(hx, hy));
    step.submit(add_up(hy, hx));
    for (int i = 0; i < 3; ++i) step.run();
  }
  EXPECT_EQ(flow().program.tasks.size(), 6u);
  EXPECT_EQ(flow().phases, 3u);
}
TEST_F(FlowFileWriter, CountsOmittedFeatures) {
  {
    Runtime runtime(config());
    double x = 1;
    const auto hx = runtime.value("x", x);
    const auto with_scratch =
        codelet("set").cpu([](Out<double> to, Scratch<double> room) { *to = room.data()[0] = 2; });
    Flow flow(runtime);
    flow.submit(with_scratch(hx, scratch(512)));
    { const auto hold = flow.acquire(read(hx)); }
    flow.wait();
  }
  EXPECT_THAT(flow().left_out,
              ElementsAre("1 tasks have scratch memory", "1 times the program acquires data itself"));
}
TEST_F(FlowFileWriter, StatesWhereSplitDataEndTheFile) {
  {
    Runtime runtime(config());
    std::vector<double> values(1024);
    const auto vector = runtime.vector("v", values.data(), 1024);
    const auto halves = runtime.split(vector, 512);
    const auto clear = codelet("clear").cpu([](Out<Vector<double>> part) { part(0) = 0; });
    Flow flow(runtime);
    flow.submit(clear(halves(1)));
    flow.wait();
  }
  try {
    flow();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("could not be recorded: the task clear"));
    EXPECT_THAT(error.what(), HasSubstr("uses split data"));
  }
}
// As after Ctrl-C: a partial file would look complete.
TEST_F(FlowFileWriter, WritesNoFileForAnAbortedRun) {
  std::ofstream(path) << "what was there";
  double x = 0;
  const auto submit_one = [&](Runtime& runtime) {
    Flow flow(runtime);
    flow.submit(set(runtime.value("x", x), 3.0));
    flow.wait();
  };
  {
    Runtime runtime(config());
    submit_one(runtime);
    EXPECT_EQ(text(), "what was there");  // until it is complete
    runtime.wind_down();
  }
  EXPECT_EQ(text(), "what was there");
  try {
    Runtime runtime(config());
    submit_one(runtime);
    throw InputError("the program fails");
  } catch (const InputError&) {
  }
  EXPECT_EQ(text(), "what was there");
  {
    Runtime runtime(config());
    submit_one(runtime);
  }
  EXPECT_EQ(flow().program.tasks.size(), 1u);
}
TEST_F(FlowFileWriter, ReportsAnUnwritablePath) {
  Config nowhere;
  nowhere.set("record-flow", "/no such folder/run.flow");
  EXPECT_THROW(Runtime{nowhere}, SystemError);
}

}  // namespace
}  // namespace fairlead
