// The tasks of a tiled QR factorization, and of the factorization as in SpLDLT.
#include <gmock/gmock.h>

#include "simulate/order_of.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using Counts = std::map<std::string, int>;
using Order = std::map<std::string, std::set<std::string>>;

// 4 x 4 tiles, the last of 10 of 30: any tree does the work of the factorization, 4/3 n^3.
TEST(Qr, HasTheTasksAndFlopsOfTheFactorization) {
  const Program flat = make_workload("qr", {100, 30, Precision::double_});
  EXPECT_EQ(counts(flat), (Counts{{"geqrt", 4}, {"unmqr", 6}, {"tsqrt", 6}, {"tsmqr", 14}}));
  EXPECT_NEAR(flat.flops(), 4e6 / 3, 1);
  const Program binary = make_workload("qr:tree=binary", {100, 30, Precision::double_});
  EXPECT_EQ(counts(binary), (Counts{{"geqrt", 10}, {"unmqr", 20}, {"ttqrt", 6}, {"ttmqr", 14}}));
  EXPECT_NEAR(binary.flops(), 4e6 / 3, 1);
}

// 8 x 2 tiles: 2 n^2 (m - n / 3).
TEST(Qr, MayBeTallAndNarrow) {
  for (const char* written : {"qr:columns=50", "qr:columns=50:tree=binary"}) {
    const Program program = make_workload(written, {200, 25, Precision::single});
    EXPECT_NEAR(program.flops(), 2.0 * 50 * 50 * (200 - 50 / 3.0), 1);
    EXPECT_EQ(counts(program)["geqrt"], std::string(written).ends_with("binary") ? 8 + 7 : 2);
  }
}

// Of b^3 / 3, for tiles of b: 4, 6, 6, 12 and 4, 6, 2, 6.
TEST(Qr, KernelsHaveTheirKnownFlops) {
  for (const char* written : {"qr", "qr:tree=binary"}) {
    const Program program = make_workload(written, {60, 30, Precision::double_});
    std::map<std::string, double> units;
    for (const ProgramTask& task : program.tasks)
      units[program.kernels[static_cast<std::size_t>(task.kernel)]] =
          std::round(task.flops / 9000 * 1e3) / 1e3;
    if (units.contains("tsqrt"))
      EXPECT_EQ(units,
                (std::map<std::string, double>{{"geqrt", 4}, {"unmqr", 6}, {"tsqrt", 6}, {"tsmqr", 12}}));
    else
      EXPECT_EQ(units,
                (std::map<std::string, double>{{"geqrt", 4}, {"unmqr", 6}, {"ttqrt", 2}, {"ttmqr", 6}}));
  }
}

// 2 x 2 tiles. tsqrt does not wait for unmqr, which reads the reflectors where they are by themselves.
TEST(Qr, FlatTreeOrdersATwoByTwoMatrix) {
  EXPECT_EQ(order_of(make_workload("qr", {60, 30, Precision::double_})),
            (Order{{"geqrt A0,0 V0,0 T0,0", {}},
                   {"unmqr A0,1", {"geqrt A0,0 V0,0 T0,0"}},
                   {"tsqrt A0,0 A1,0 T1,0", {"geqrt A0,0 V0,0 T0,0"}},
                   {"tsmqr A0,1 A1,1", {"unmqr A0,1", "tsqrt A0,0 A1,0 T1,0"}},
                   {"geqrt A1,1 V1,1 T1,1", {"tsmqr A0,1 A1,1"}}}));
}

TEST(Qr, BinaryTreeOrdersATwoByTwoMatrix) {
  EXPECT_EQ(order_of(make_workload("qr:tree=binary", {60, 30, Precision::double_})),
            (Order{{"geqrt A0,0 V0,0 T0,0", {}},
                   {"geqrt A1,0 V1,0 T1,0", {}},
                   {"unmqr A0,1", {"geqrt A0,0 V0,0 T0,0"}},
                   {"unmqr A1,1", {"geqrt A1,0 V1,0 T1,0"}},
                   {"ttqrt A0,0 A1,0 T of pairs1,0", {"geqrt A0,0 V0,0 T0,0", "geqrt A1,0 V1,0 T1,0"}},
                   {"ttmqr A0,1 A1,1", {"unmqr A0,1", "unmqr A1,1", "ttqrt A0,0 A1,0 T of pairs1,0"}},
                   {"geqrt A1,1 V1,1 T1,1", {"ttmqr A0,1 A1,1"}}}));
}

// One column of 5 tiles: 0-1 and 2-3, then 0-2, then 0-4; a chain if flat.
TEST(Qr, BinaryTreeJoinsTilesInPairs) {
  const Program binary = make_workload("qr:tree=binary:columns=10", {50, 10, Precision::double_});
  std::vector<std::string> joins;
  for (const std::string& name : names_of(binary))
    if (name.starts_with("ttqrt")) joins.push_back(name.substr(0, name.find(" T")));
  EXPECT_THAT(joins, testing::ElementsAre("ttqrt A0,0 A1,0", "ttqrt A2,0 A3,0", "ttqrt A0,0 A2,0",
                                          "ttqrt A0,0 A4,0"));
  EXPECT_EQ(binary.tasks[0].priority, 4);  // geqrt and three levels
  EXPECT_EQ(make_workload("qr:columns=10", {50, 10, Precision::double_}).tasks[0].priority, 5);
}

TEST(Qr, PrioritiesCountTheTasksOnTheLongestPath) {
  const Program program = make_workload("qr", {60, 30, Precision::double_});
  std::vector<int> priorities;
  for (const ProgramTask& task : program.tasks) priorities.push_back(task.priority);
  EXPECT_THAT(priorities, testing::ElementsAre(4, 3, 3, 2, 1));  // geqrt unmqr tsqrt tsmqr geqrt
}

// A is 60 x 60, V two tiles, T three of ib rows each.
TEST(Qr, TheFactorsTHaveAsManyRowsAsAnInnerBlock) {
  const WorkloadSize size{60, 30, Precision::double_};
  EXPECT_EQ(make_workload("qr", size).bytes(), (3600u + 2 * 900 + 3 * 3 * 30) * 8);
  EXPECT_EQ(make_workload("qr:ib=10", size).bytes(), (3600u + 2 * 900 + 3 * 10 * 30) * 8);
}

TEST(Ldlt, RunsOneOfItsFourKernelsOnDevices) {
  const WorkloadSize size{20'000, 800, Precision::double_};
  const Program program = make_workload("ldlt", size);
  EXPECT_EQ(counts(program), (Counts{{"potrf", 25}, {"trsm", 300}, {"syrk", 300}, {"gemm", 2300}}));
  EXPECT_THAT(program.cpu_only, testing::UnorderedElementsAre("potrf", "trsm", "syrk"));
  EXPECT_NEAR(program.flops() / (8e12 / 3), 1, 1e-3);
  EXPECT_TRUE(make_workload("cholesky", size).cpu_only.empty());
}

}  // namespace
}  // namespace fairlead::simulate
