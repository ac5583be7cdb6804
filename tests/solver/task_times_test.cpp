// Durations of planned tasks: those of another body or amount of work are not taken for them.
#include "solver/task_times.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/linalg/pass_estimate.hpp"
#include "algorithms/linalg/qr_kernels.hpp"
#include "data/task.hpp"

namespace fairlead::solver {
namespace {

constexpr float flops = 2e9f;

model::Footprint footprint_of(Bytes bytes, float work) {
  model::Footprint footprint;
  footprint.add(bytes);
  footprint.add_work(work);
  return footprint;
}

/// Eight tasks of the same duration.
model::DurationRecord record_of(const CodeletInfo& codelet, const model::Footprint& footprint,
                                std::chrono::nanoseconds duration) {
  model::DurationRecord record;
  record.codelet = codelet.name;
  record.implementation = codelet.for_kind(WorkerKind::cpu).name;
  record.unit = codelet.unit;
  record.footprint = footprint.hash();
  record.size = footprint.size();
  record.tasks = 8;
  record.quantiles_ns.fill(duration.count());
  return record;
}

linalg::KernelRates rates_of_a_core() {
  linalg::KernelRates rates;
  rates.gemm = rates.syrk = rates.trsm = rates.potrf = 10;
  return rates;
}

double planned_seconds(TaskTimes& times, const std::shared_ptr<const CodeletInfo>& codelet,
                       const model::Footprint& footprint) {
  Task task;
  task.codelet = codelet.get();
  return std::chrono::duration<double>(times.start(task, footprint)).count();
}

TEST(TaskTimes, AreThoseOfThePrecision) {
  const auto kernels = linalg::Kernels::load();
  const auto in_double = linalg::QrPanelKernels<double>(kernels).geqrt.info(),
             in_single = linalg::QrPanelKernels<float>(kernels).geqrt.info();
  const model::Footprint measured = footprint_of(1 << 20, flops);
  TaskTimes times({record_of(*in_double, measured, std::chrono::seconds(3))}, rates_of_a_core);
  EXPECT_DOUBLE_EQ(planned_seconds(times, in_double, measured), 3);
  EXPECT_TRUE(times.assumed().empty());
  EXPECT_LT(planned_seconds(times, in_single, measured), 1);
  EXPECT_EQ(times.assumed().count("geqrt"), 1u);
}

TEST(TaskTimes, OfAPassDependOnReadingMoreThanOnOneSide) {
  using linalg::pass_duration;
  using linalg::PassOver;
  const auto of = [](std::int64_t sides, PassOver over = PassOver::lines) {
    return std::chrono::duration<double>(pass_duration(over, 1e6, 8, sides, false)).count();
  };
  EXPECT_LT(of(4), 1.5 * of(1));
  EXPECT_GT(of(64), 2 * of(4));
  EXPECT_LT(of(64), 4 * of(4));  // not 16 times
  EXPECT_GT(of(1, PassOver::pieces), 3 * of(1));
}

/// What earlier runs measured scales the formula.
TEST(TaskTimes, OfAPassFollowMeasuredPasses) {
  CodeletInfo made;
  made.name = "judge";
  made.unit = WorkUnit::nanoseconds;
  const auto judge = std::make_shared<const CodeletInfo>(made);
  const model::Footprint few = footprint_of(0, 1e6f), many = footprint_of(0, 3e6f);
  TaskTimes first({}, rates_of_a_core);
  EXPECT_NEAR(planned_seconds(first, judge, few), 1e-3, 1e-9);
  EXPECT_LE(first.busy().least_share(), 0.5);
  EXPECT_GE(first.busy().most_share(), 2);
  TaskTimes later({record_of(*judge, few, std::chrono::milliseconds(5))}, rates_of_a_core);
  EXPECT_NEAR(planned_seconds(later, judge, many), 15e-3, 1e-3);
}

}  // namespace
}  // namespace fairlead::solver
