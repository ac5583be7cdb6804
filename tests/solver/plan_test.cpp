// Plans against solves: the bytes that real runs count, over methods, memory, types and right-hand sides; the least memory;
// the method of a sampled matrix.
#include <fairlead/error.hpp>
#include <fairlead/matrix_file.hpp>
#include <fairlead/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "solver/dense_systems.hpp"
#include "solver/factor_systems.hpp"

namespace fairlead::linalg {
namespace {

using tests::DenseSystem;
using tests::dominant_system;
using tests::every_method;
using tests::plain_system_for;
using tests::random_system;
using tests::symmetric_system;
using tests::view_of;

/// With one worker and a policy without estimates, the bytes hardly depend on times.
SolverOptions options_with(Method method, Bytes memory, std::int32_t tile) {
  Config config;
  config.set("cache-directory", "none");
  config.set("scheduler", "eager");
  return {.memory = memory, .method = method, .tile = tile, .workers = 1, .config = config};
}

template <class T>
constexpr ElementType element_of_type =
    std::is_same_v<T, float> ? ElementType::float32 : ElementType::float64;

template <class T>
class PlanOf : public testing::Test {};
using PlannedPrecisions = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanOf, PlannedPrecisions);

struct MovedBytes {
  double planned = 0, counted = 0;
  void add(Bytes of_plan, Bytes of_run) {
    planned += static_cast<double>(of_plan);
    counted += static_cast<double>(of_run);
  }
  void expect_within(double share, double least, const std::string& what) const {
    EXPECT_LE(std::abs(planned - counted), std::max(share * counted, least))
        << what << ": planned " << planned << ", counted " << counted;
  }
};

// In a single run, the order of some tasks and the moments of write-backs depend on times.
TYPED_TEST(PlanOf, BytesAreThoseOfSolves) {
  using T = TypeParam;
  constexpr std::int64_t n = 896;
  constexpr std::int32_t tile = 64;  // of whole pages
  constexpr double some_tiles = 24.0 * tile * tile * sizeof(T);
  for (const Method method : every_method())
    for (const std::int64_t sides : {1, 100}) {
      const auto system = plain_system_for<T>(method, n, sides, 5);
      Solver unlimited(options_with(method, 512_MiB, tile));
      const SolvePlan all = unlimited.plan(n, n, element_of_type<T>, sides);
      EXPECT_EQ(all.disk_space, 0u);
      EXPECT_EQ(all.spill_bytes_read + all.spill_bytes_written, 0u);
      MovedBytes read, written;
      const std::string name = std::string(name_of(method)) + ", " + std::to_string(sides) + " sides";
      for (const double share : {0.2, 0.5, 1.0}) {
        const auto memory =
            all.least_memory +
            static_cast<Bytes>(share * static_cast<double>(all.in_core_memory - all.least_memory));
        Solver solver(options_with(method, memory, tile));
        const SolvePlan plan = solver.plan(n, n, element_of_type<T>, sides);
        const std::vector<T> x = solver.solve(view_of(system), system.b, sides);
        const Bytes planned_read = plan.spill_bytes_read + plan.check_bytes_read,
                    planned_written = plan.spill_bytes_written + plan.check_bytes_written;
        read.add(planned_read, solver.report().bytes_read);
        written.add(planned_written, solver.report().bytes_written);
        const std::string what = name + ", memory " + std::to_string(share);
        MovedBytes{static_cast<double>(planned_read), static_cast<double>(solver.report().bytes_read)}
            .expect_within(0.3, some_tiles, what + ", read");
        MovedBytes{static_cast<double>(planned_written), static_cast<double>(solver.report().bytes_written)}
            .expect_within(0.3, some_tiles, what + ", written");
        EXPECT_EQ(plan.tile, solver.report().tile) << what;
        EXPECT_EQ(plan.disk_space == 0, share == 1) << what;
        EXPECT_EQ(solver.report().bytes_written == 0, share == 1) << what;
      }
      // On a busy machine, copies end at other times, and other tiles are evicted.
      read.expect_within(0.2, some_tiles, name + ", read");
      written.expect_within(0.2, some_tiles, name + ", written");
    }
}

TEST(Plan, TheLeastMemorySufficesAndLessIsAnErrorThatStatesIt) {
  for (const Method method : every_method()) {
    const auto system = plain_system_for<double>(method, 400, 1, 3);
    Solver unlimited(options_with(method, 512_MiB, 32));
    const Bytes least = unlimited.plan(400, 400, ElementType::float64).least_memory;
    Solver enough(options_with(method, least, 32)), too_little(options_with(method, least - 4096, 32));
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
  Solver solver(options_with(Method::automatic, 64_MiB, 32));
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
    Solver solver(options_with(method, 64_MiB, 64));
    const SolvePlan plan = solver.plan(2100, 2100, ElementType::float64);
    const auto phases = std::ranges::count(plan.phases, "refinement", &SolvePhase::name);
    EXPECT_EQ(phases, method == Method::ldlt || method == Method::lu_incremental ? 1 : 0) << name_of(method);
  }
}

TEST(Plan, TheTimeIsThatOfThePhasesAndWithinItsBounds) {
  Solver solver(options_with(Method::automatic, 16_MiB, 0));
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
