// Access arrays: the example_codelets of Bramas 2019, "Multi-priorities", and orders that are found.
#include "schedule/heteroprio/buckets.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>
#include <vector>

#include "schedule/heteroprio/access_order.hpp"
#include "schedule/heteroprio/kinds.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

constexpr std::uint32_t both = cpu | cuda;
using Order = std::vector<std::uint32_t>;
using Priorities = std::vector<std::int32_t>;

struct Codelet {
  std::string name;
  std::uint32_t kinds;
};
const std::vector<Codelet> example_codelets{{"TA", both}, {"TB", cpu}, {"TC", both}, {"TC'", both}};

Buckets buckets(HeteroprioSettings settings, const std::vector<Codelet>& codelets = example_codelets) {
  Buckets result(std::move(settings));
  for (std::size_t i = 0; i < codelets.size(); ++i)
    EXPECT_EQ(result.at(codelets[i].name, i, codelets[i].kinds), i);
  return result;
}
AccessArray array(const Buckets& of, WorkerKind kind) { return access_array(kind, of.list(), of.settings()); }

HeteroprioSettings paper_priorities() {
  HeteroprioSettings settings;
  settings.orders[index(WorkerKind::cpu)] = {{"TA"}, {"TB"}, {"TC"}, {"TC'"}};
  settings.orders[index(WorkerKind::cuda)] = {{"TC'", "TC"}, {"TA"}};
  return settings;
}
template <class F>
std::string refusal_by(F&& f) {
  try {
    f();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Buckets, AreVisitedAsInThePaper) {
  const Buckets of = buckets(paper_priorities());
  const AccessArray of_cpu = array(of, WorkerKind::cpu), of_gpu = array(of, WorkerKind::cuda);
  EXPECT_EQ(of_cpu.order, (Order{0, 1, 2, 3}));
  EXPECT_EQ(of_cpu.priorities, (Priorities{0, 1, 2, 3}));
  EXPECT_EQ(of_gpu.order, (Order{2, 3, 0}));  // the paper: {3,2,0}, or this
  EXPECT_EQ(of_gpu.priorities, (Priorities{1, no_priority, 0, 0}));
}

// Best = {CPU, GPU, GPU, GPU}, Speedup = {1, 1.1, 1.4, 3}: but it is TB, not TA, that the GPU cannot run.
TEST(Buckets, ThePapersOwnFactorsAreRefused) {
  HeteroprioSettings settings = paper_priorities();
  settings.factors = {{"TA", WorkerKind::cpu, 1},
                      {"TB", WorkerKind::cuda, 1.1},
                      {"TC", WorkerKind::cuda, 1.4},
                      {"TC'", WorkerKind::cuda, 3}};
  EXPECT_THAT(refusal_by([&] { settings.check(); }),
              testing::HasSubstr("heteroprio: cuda is said to be the fastest for TB, but its order does not "
                                 "name that. The fastest kind must be able to run a codelet"));
  settings.factors = {{"TA", WorkerKind::cuda, 1.1},
                      {"TB", WorkerKind::cpu, 1},
                      {"TC", WorkerKind::cuda, 1.4},
                      {"TC'", WorkerKind::cuda, 3}};
  EXPECT_EQ(refusal_by([&] { settings.check(); }), "accepted");
}

TEST(Buckets, ContradictionsAreRefused) {
  HeteroprioSettings twice = paper_priorities();
  twice.orders[0].push_back({"TB"});
  EXPECT_EQ(refusal_by([&] { twice.check(); }), "heteroprio: the order of cpu names TB twice");
  HeteroprioSettings misspelt = paper_priorities();
  misspelt.factors = {{"TC''", WorkerKind::cuda, 2}};
  EXPECT_EQ(refusal_by([&] { misspelt.check(); }),
            "heteroprio: a speedup factor is given for TC'', which no order names (did you mean TC'?)");
  HeteroprioSettings two;
  two.factors = {{"TC", WorkerKind::cuda, 2}, {"TC", WorkerKind::cpu, 2}};
  EXPECT_EQ(refusal_by([&] { two.check(); }), "heteroprio: two speedup factors are given for TC");
  HeteroprioSettings slower;
  slower.factors = {{"TC", WorkerKind::cuda, 0.5}};
  EXPECT_THAT(refusal_by([&] { slower.check(); }), testing::HasSubstr("the speedup factor of TC is 0.5"));
}

// Tasks that no other kind can run come first; then each kind starts with what it is best at.
TEST(Buckets, OrdersAreFoundFromTheFactors) {
  HeteroprioSettings settings;
  settings.factors = {
      {"TA", WorkerKind::cuda, 1.1}, {"TC", WorkerKind::cuda, 1.4}, {"TC'", WorkerKind::cuda, 3}};
  const Buckets of = buckets(settings);
  EXPECT_EQ(array(of, WorkerKind::cpu).order, (Order{1, 0, 2, 3}));
  EXPECT_EQ(array(of, WorkerKind::cuda).order, (Order{3, 2, 0}));
  EXPECT_TRUE(array(of, WorkerKind::opencl).order.empty());
}

TEST(Buckets, WithoutEstimatesAreVisitedInOrderOfArrival) {
  const Buckets of = buckets({}, {{"first", both}, {"second", both}, {"third", both}});
  EXPECT_EQ(array(of, WorkerKind::cpu).order, (Order{0, 1, 2}));
  EXPECT_EQ(array(of, WorkerKind::cpu).priorities, (Priorities{0, 0, 0}));
  EXPECT_EQ(array(of, WorkerKind::cuda).order, (Order{0, 1, 2}));
}

TEST(Buckets, NotNamedByTheUserComeLast) {
  HeteroprioSettings settings;
  settings.orders[index(WorkerKind::cpu)] = {{"TC"}, {"TA"}};
  EXPECT_EQ(array(buckets(settings), WorkerKind::cpu).order, (Order{2, 0, 1, 3}));
}

// A task that may not be on the devices' nodes is in another bucket than its like.
TEST(Buckets, HoldTasksOfOneCodeletThatTheSameKindsCanRun) {
  Buckets of = buckets({}, {{"gemm", both}, {"gemm", cpu}});
  EXPECT_EQ(of.at("gemm", 0, both), 0u);
  EXPECT_EQ(array(of, WorkerKind::cuda).order, (Order{0}));
  EXPECT_EQ(array(of, WorkerKind::cpu).order, (Order{1, 0}));
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
