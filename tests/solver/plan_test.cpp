// Plans against solves: the least memory, the method of a sampled matrix, what a plan refuses.
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "solver/dense_systems.hpp"
#include "solver/factor_systems.hpp"
#include "solver/plan_options.hpp"

namespace fairlead::linalg {
namespace {

using tests::DenseSystem;
using tests::dominant_system;
using tests::every_method;
using tests::plain_system_for;
using tests::plan_options;
using tests::random_system;
using tests::symmetric_system;
using tests::view_of;

TEST(Plan, TheLeastMemorySufficesAndLessIsAnErrorThatStatesIt) {
  for (const Method method : every_method()) {
    const auto system = plain_system_for<double>(method, 400, 1, 3);
    Solver unlimited(plan_options(method, 512_MiB, 32));
    const Bytes least = unlimited.plan(400, 400, ElementType::float64).least_memory;
    Solver enough(plan_options(method, least, 32)), too_little(plan_options(method, least - 4096, 32));
    EXPECT_EQ(enough.solve(view_of(system), system.b).size(), 400u) << name_of(method);
    EXPECT_EQ(enough.plan(400, 400, ElementType::float64).least_memory, least) << name_of(method);
    try {
      too_little.plan(400, 400, ElementType::float64);
      ADD_FAILURE() << name_of(method);
    } catch (const FootprintError& error) {
      EXPECT_NE(std::string(error.what()).find("at least"), std::string::npos) << error.what();
    }
  }
}

TEST(Plan, ASampleOfTheMatrixDecidesTheMethod) {
  Solver solver(plan_options(Method::automatic, 64_MiB, 32));
  DenseSystem<double> system = symmetric_system<double>(200, 1, 2);
  const auto method_of = [&](const DenseSystem<double>& of) {
    return solver.plan(*matrix_in_memory(of.a.data(), of.rows, of.columns)).method;
  };
  EXPECT_EQ(method_of(system), Method::cholesky);
  for (std::int64_t i = 0; i < system.rows; ++i) system.at(i, i) -= 400;
  EXPECT_EQ(method_of(system), Method::ldlt);
  EXPECT_EQ(method_of(dominant_system<double>(200, 1, 2)), Method::lu);
  EXPECT_EQ(method_of(random_system<double>(200, 30, 1, 2)), Method::qr);
}

TEST(Plan, RefinementIsExpectedWhereARandomMatrixNeedsIt) {
  for (const Method method : every_method()) {
    Solver solver(plan_options(method, 64_MiB, 64));
    const SolvePlan plan = solver.plan(2100, 2100, ElementType::float64);
    const auto phases = std::ranges::count(plan.phases, "refinement", &SolvePhase::name);
    EXPECT_EQ(phases, method == Method::ldlt || method == Method::lu_incremental ? 1 : 0) << name_of(method);
  }
}

TEST(Plan, TheTimeIsThatOfThePhasesAndWithinItsBounds) {
  Solver solver(plan_options(Method::automatic, 16_MiB, 0));
  const SolvePlan plan = solver.plan(1500, 1500, ElementType::float32, 3);
  double sum = 0;
  for (const SolvePhase& phase : plan.phases) sum += phase.seconds;
  EXPECT_DOUBLE_EQ(plan.seconds, sum);
  EXPECT_GT(plan.seconds, 0);
  EXPECT_LE(plan.least_seconds, plan.seconds);
  EXPECT_GE(plan.most_seconds, plan.seconds);
  EXPECT_FALSE(plan.assumptions.empty());  // nothing was measured
  EXPECT_EQ(plan.precision, ElementType::float32);
  EXPECT_EQ(plan.output_bytes, 1500u * 3 * 4);
  EXPECT_THROW(solver.plan(10, 10, ElementType::float32, 0), UsageError);
}

}  // namespace
}  // namespace fairlead::linalg
