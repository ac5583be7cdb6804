// Two programs are the same one in two orders: the same tasks, as much work each, on the same tiles, each of which has the
// same history.
#pragma once
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

using Tile = std::tuple<std::int32_t, std::int32_t, Bytes>;
inline Tile tile_of(const Program& program, const ProgramUse& use) {
  const ProgramDatum& datum = program.data[static_cast<std::size_t>(use.datum)];
  return {datum.row, datum.column, datum.bytes};
}

/// "gemm 33554432 256 read(2,0)... ".
inline std::string text_of(const Program& program, const ProgramTask& task,
                           std::span<const ProgramUse> uses) {
  std::vector<std::string> used;
  for (const ProgramUse& use : uses) {
    const auto [row, column, bytes] = tile_of(program, use);
    used.push_back(fmt::format("{} {},{} of {}", name_of(use.mode), row, column, bytes));
  }
  std::ranges::sort(used);
  return fmt::format("{} {} {} {}", program.kernels[static_cast<std::size_t>(task.kernel)], task.flops,
                     task.side, fmt::join(used, "; "));
}

/// The history of a tile: its readers, in any order, until the next writer.
inline std::map<Tile, std::vector<std::multiset<std::string>>> histories_of(const Program& program) {
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

inline void expect_same(const Program& found, const Program& expected) {
  EXPECT_EQ(found.tasks.size(), expected.tasks.size());
  EXPECT_EQ(found.flops(), expected.flops());
  EXPECT_EQ(found.bytes(), expected.bytes());
  EXPECT_TRUE(histories_of(found) == histories_of(expected));
}

}  // namespace fairlead::simulate
