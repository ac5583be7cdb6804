// Planned bytes against the bytes that real runs count, over methods, memory, types and numbers of right-hand sides.
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
#include "solver/plan_options.hpp"

namespace fairlead::linalg {
namespace {

using tests::every_method;
using tests::plain_system_for;
using tests::plan_options;
using tests::view_of;

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
      Solver unlimited(plan_options(method, 512_MiB, tile));
      const SolvePlan all = unlimited.plan(n, n, element_of_type<T>, sides);
      EXPECT_EQ(all.disk_space, 0u);
      EXPECT_EQ(all.spill_bytes_read + all.spill_bytes_written, 0u);
      MovedBytes read, written;
      const std::string name = std::string(name_of(method)) + ", " + std::to_string(sides) + " sides";
      for (const double share : {0.2, 0.5, 1.0}) {
        const auto memory =
            all.least_memory +
            static_cast<Bytes>(share * static_cast<double>(all.in_core_memory - all.least_memory));
        Solver solver(plan_options(method, memory, tile));
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

}  // namespace
}  // namespace fairlead::linalg
