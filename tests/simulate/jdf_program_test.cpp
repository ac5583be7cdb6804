// The examples in JDF as programs for the simulator are the workloads of the same name: the same tasks, as much work each,
// on the same tiles, in an order that gives every tile the same history.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "front/jdf/parser.hpp"
#include "simulate/jdf_program.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

std::unique_ptr<jdf::Program> example(const char* name, const std::vector<std::string>& matrices) {
  const auto folder =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "examples" / "jdf";
  jdf::Diagnostics diagnostics;
  jdf::File file = jdf::read(jdf::Source::read((folder / name).string()), diagnostics);
  auto program = std::make_unique<jdf::Program>(std::move(file), linalg::tile_functions(), diagnostics);
  EXPECT_EQ(diagnostics.errors(), 0U) << jdf::shown(diagnostics, program->file.source);
  for (const std::string& matrix : matrices) program->settings.describe(matrix);
  return program;
}

using Tile = std::tuple<std::int32_t, std::int32_t, Bytes>;
Tile tile_of(const Program& program, const ProgramUse& use) {
  const ProgramDatum& datum = program.data[static_cast<std::size_t>(use.datum)];
  return {datum.row, datum.column, datum.bytes};
}

/// "gemm 33554432 256 read(2,0)... ".
std::string text_of(const Program& program, const ProgramTask& task, std::span<const ProgramUse> uses) {
  std::vector<std::string> used;
  for (const ProgramUse& use : uses) {
    const auto [row, column, bytes] = tile_of(program, use);
    used.push_back(fmt::format("{} {},{} of {}", name_of(use.mode), row, column, bytes));
  }
  std::ranges::sort(used);
  return fmt::format("{} {} {} {}", program.kernels[static_cast<std::size_t>(task.kernel)], task.flops,
                     task.side, fmt::join(used, "; "));
}

/// What a tile goes through: who reads it, in any order, until somebody changes it.
std::map<Tile, std::vector<std::multiset<std::string>>> histories_of(const Program& program) {
  std::map<Tile, std::vector<std::multiset<std::string>>> out;
  program.for_each_task([&](const ProgramTask& task, std::span<const ProgramUse> uses) {
    for (const ProgramUse& use : uses) {
      auto& history = out[tile_of(program, use)];
      if (history.empty() || use.mode != AccessMode::read) history.emplace_back();
      history.back().insert(text_of(program, task, uses));
      if (use.mode != AccessMode::read) history.emplace_back();
    }
  });
  return out;
}

void expect_same(const Program& found, const Program& expected) {
  EXPECT_EQ(found.tasks.size(), expected.tasks.size());
  EXPECT_EQ(found.flops(), expected.flops());
  EXPECT_EQ(found.bytes(), expected.bytes());
  EXPECT_TRUE(histories_of(found) == histories_of(expected));
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

// Tasks that only pass tiles on are no tasks there.
TEST(JdfProgram, ProductsAreThoseOfTheLoops) {
  const auto jdf =
      example("gemm.jdf", {"descA=300,200,100,100", "descB=200,400,100,100", "descC=300,400,100,100"});
  jdf->settings.set("alpha=1");
  jdf->settings.set("beta=0");
  const JdfProgram made = program_of(*jdf, 100, Precision::double_);
  EXPECT_EQ(made.passed_on, 3U * 2 + 2 * 4);
  EXPECT_EQ(made.program.tasks.size(), 3U * 4 * 2);
  EXPECT_EQ(made.program.flops(), 2.0 * 300 * 400 * 200);
  EXPECT_EQ(made.program.bytes(), Bytes{8} * (300 * 200 + 200 * 400 + 300 * 400));
}

}  // namespace fairlead::simulate
