// The examples in JDF as programs for the simulator are the workloads of the same name: the same tasks, as much work each,
// on the same tiles, in an order that gives every tile the same history.
#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "front/jdf/parser.hpp"
#include "simulate/jdf_program.hpp"
#include "simulate/same_program.hpp"
#include "simulate/study/scenario.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

std::unique_ptr<jdf::RunnableJdf> example(const char* name, const std::vector<std::string>& matrices) {
  const auto folder =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "examples" / "jdf";
  jdf::Diagnostics diagnostics;
  jdf::JdfFile file = jdf::read(jdf::SourceFile::read((folder / name).string()), diagnostics);
  auto program = std::make_unique<jdf::RunnableJdf>(std::move(file), linalg::tile_functions(), diagnostics);
  EXPECT_EQ(diagnostics.errors(), 0U) << jdf::shown(diagnostics, program->file.source);
  for (const std::string& matrix : matrices) program->settings.describe(matrix);
  return program;
}

}  // namespace

TEST(JdfProgram, CholeskyIsTheWorkload) {
  for (const std::int64_t n : {100, 256, 700, 1000})
    for (const Precision precision : {Precision::single, Precision::double_}) {
      const auto jdf = example("cholesky.jdf", {fmt::format("descA={},{},128,128", n, n)});
      expect_same(program_of(*jdf, 128, precision).program, make_workload("cholesky", {n, 128, precision}));
    }
}

TEST(JdfProgram, LuIsTheWorkload) {
  for (const std::int64_t n : {128, 500, 896}) {
    const auto jdf = example("lu.jdf", {fmt::format("descA={},{},128,128", n, n)});
    expect_same(program_of(*jdf, 128, Precision::double_).program,
                make_workload("lu", {n, 128, Precision::double_}));
  }
}

TEST(JdfProgram, IsAFrontEndOfWorkloads) {
  const WorkloadSize size{700, 128, Precision::double_};
  for (const char* name : {"cholesky", "lu", "gemm"}) {
    const SimulatedProgram jdf = workload_program(name, size, WorkloadFront::jdf);
    const SimulatedProgram flow = workload_program(name, size, WorkloadFront::flow);
    EXPECT_EQ(jdf.program.title, flow.program.title + ", as JDF");
    EXPECT_EQ(jdf.program.tasks.size(), flow.program.tasks.size());
    EXPECT_EQ(jdf.program.flops(), flow.program.flops());
  }
  EXPECT_THROW(workload_program("qr", size, WorkloadFront::jdf), ConfigError);
}

// Tasks that only forward tiles are left out.
TEST(JdfProgram, ProductsAreThoseOfTheLoops) {
  const auto jdf =
      example("gemm.jdf", {"descA=300,200,100,100", "descB=200,400,100,100", "descC=300,400,100,100"});
  jdf->settings.set("alpha=1");
  jdf->settings.set("beta=0");
  const JdfProgram made = program_of(*jdf, 100, Precision::double_);
  EXPECT_EQ(made.forwarding_tasks, 3U * 2 + 2 * 4);
  EXPECT_EQ(made.program.tasks.size(), 3U * 4 * 2);
  EXPECT_EQ(made.program.flops(), 2.0 * 300 * 400 * 200);
  EXPECT_EQ(made.program.bytes(), Bytes{8} * (300 * 200 + 200 * 400 + 300 * 400));
}

}  // namespace fairlead::simulate
