// Options of heteroprio and laheteroprio, and errors for invalid ones.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>
#include <string_view>

#include "schedule/heteroprio/heteroprio.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule::heteroprio {
namespace {

HeteroprioSettings read(std::string_view written) {
  return read_settings(PolicyOptions("heteroprio", heteroprio_options, written), false);
}
Locality locality(std::string_view written) {
  return *read_settings(PolicyOptions("laheteroprio", laheteroprio_options, written), true).locality;
}
std::string refusal(std::string_view written) {
  try {
    make_policy(written);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(HeteroprioOptions, OrderCodeletsByKindOfWorker) {
  const HeteroprioSettings settings =
      read("cpu=potrf/trsm+syrk/gemm:cuda=gemm:speedup=gemm@cuda@12.5/potrf@cpu@2");
  EXPECT_EQ(settings.orders[index(WorkerKind::cpu)], (KindOrder{{"potrf"}, {"trsm", "syrk"}, {"gemm"}}));
  EXPECT_EQ(settings.orders[index(WorkerKind::cuda)], (KindOrder{{"gemm"}}));
  EXPECT_TRUE(settings.orders[index(WorkerKind::emulated)].empty());
  ASSERT_EQ(settings.factors.size(), 2u);
  EXPECT_EQ(settings.factor("gemm")->fastest, WorkerKind::cuda);
  EXPECT_EQ(settings.factor("gemm")->factor, 12.5);
  EXPECT_EQ(settings.factor("potrf")->fastest, WorkerKind::cpu);
  EXPECT_FALSE(settings.locality.has_value());
}

TEST(HeteroprioOptions, AreUnsetByDefault) {
  const HeteroprioSettings settings = read("");
  for (const KindOrder& order : settings.orders) EXPECT_TRUE(order.empty());
  EXPECT_TRUE(settings.factors.empty());
}

TEST(HeteroprioOptions, OfLocalityHaveThePapersValues) {
  const Locality said = locality("");
  EXPECT_FALSE(said.affinity.has_value());
  EXPECT_EQ(said.alpha, 0.5);
  EXPECT_EQ(said.theta, 1000);
  EXPECT_EQ(said.reach[index(WorkerKind::cpu)], (LocalityRange{2, unlimited}));
  EXPECT_EQ(said.reach[index(WorkerKind::cuda)], (LocalityRange{unlimited, 1}));
  EXPECT_EQ(said.reach, default_locality().reach);
}

TEST(HeteroprioOptions, OfLocalityMayDifferByKind) {
  const Locality said = locality("affinity=sdhb:lambda=3:subgroups=others@0/cuda@2:alpha=0.25:theta=10");
  EXPECT_EQ(said.affinity, Affinity::sdhb);
  EXPECT_EQ(said.reach[index(WorkerKind::cpu)], (LocalityRange{3, 0}));
  EXPECT_EQ(said.reach[index(WorkerKind::cuda)], (LocalityRange{3, 2}));
  EXPECT_EQ(said.alpha, 0.25);
  EXPECT_EQ(said.theta, 10);
  EXPECT_EQ(locality("subgroups=cuda@2/others@0").reach, locality("subgroups=others@0/cuda@2").reach);
  EXPECT_EQ(locality("lambda=cuda@3").reach[index(WorkerKind::cpu)].lambda, 2u);  // the default
}

TEST(HeteroprioOptions, AreRefusedWithTheValidValues) {
  EXPECT_EQ(
      refusal("heteroprio:cpu=potrf//gemm"),
      "the option cpu of the scheduler heteroprio is \"potrf//gemm\", where a codelet's name is missing");
  EXPECT_EQ(refusal("heteroprio:speedup=gemm@coda@2"),
            "the option speedup of the scheduler heteroprio names the kind of worker \"coda\", but there are "
            "cpu, emulated, cuda, opencl (did you mean cuda?)");
  EXPECT_THAT(
      refusal("heteroprio:speedup=gemm@cuda"),
      testing::HasSubstr("the option speedup of the scheduler heteroprio has \"gemm@cuda\", but must"));
  EXPECT_THAT(refusal("heteroprio:speedup=gemm@cuda@0.5"), testing::HasSubstr("from 1 on"));
  EXPECT_THAT(refusal("heteroprio:speedup=gemm@cuda@fast"), testing::HasSubstr("gemm@cuda@1.4"));
  EXPECT_THAT(refusal("heteroprio:affinity=sdh"),
              testing::HasSubstr("the scheduler heteroprio has no option \"affinity\""));
  EXPECT_EQ(
      refusal("laheteroprio:affinity=sdhc"),
      "the option affinity of the scheduler laheteroprio is \"sdhc\", but must be one of laru, mc, sdh, "
      "sdh2, sdhb, smwb, auto (did you mean sdh?)");
  EXPECT_THAT(refusal("laheteroprio:lambda=0"), testing::HasSubstr("whole numbers from 1 on, or all"));
  EXPECT_THAT(refusal("laheteroprio:subgroups=gpu@1"), testing::HasSubstr("kind of worker \"gpu\""));
  EXPECT_THAT(refusal("laheteroprio:alpha=2"), testing::HasSubstr("must be a number from 0 to 1"));
  EXPECT_EQ(refusal("heteroprio:cpu=potrf/gemm:speedup=gem@cuda@2"),
            "heteroprio: a speedup factor is given for gem, which no order names (did you mean gemm?)");
}

// The paper's factors, as options.
TEST(HeteroprioOptions, AFastestKindThatDoesNotVisitIsRefused) {
  const std::string priorities = "heteroprio:cpu=TA/TB/TC/TD:cuda=TC+TD/TA:speedup=";
  EXPECT_THAT(refusal(priorities + "TA@cpu@1/TB@cuda@1.1/TC@cuda@1.4/TD@cuda@3"),
              testing::HasSubstr("cuda is said to be the fastest for TB, but its order does not name that"));
  EXPECT_EQ(refusal(priorities + "TA@cuda@1.1/TB@cpu@1/TC@cuda@1.4/TD@cuda@3"), "accepted");
}

}  // namespace
}  // namespace fairlead::schedule::heteroprio
