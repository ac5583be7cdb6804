// Factorizations as parameterized graphs: the same bits as those of flows, in core and out of core, under every
// policy, and right by LAPACK's criterion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/world.hpp"
#include "schedule/policies.hpp"

namespace fairlead::linalg::testing {
namespace {

template <class T>
class Parameterized : public ::testing::Test {
 protected:
  static std::shared_ptr<const MatrixSource<T>> dominant_matrix(std::int64_t n) {
    return std::make_shared<GeneratedSpd<T>>(n, 5);
  }
  /// The factor by a parameterized graph; LU's if `all`.
  static Dense<T> factor_of(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile, bool all,
                            const Setting& setting, Bytes* bytes_read = nullptr) {
    Runtime runtime(config_of(setting));
    const Tiles which = all ? Tiles::all : Tiles::lower;
    const auto a = runtime.tiled<T>("A", source->rows(), source->columns(), tile, which);
    Flow flow(runtime);
    fill<T>(flow, source, a, which);
    ptg::Graph graph(runtime);
    all ? lu(graph, kernels(), a) : cholesky(graph, kernels(), a);
    const auto nt = static_cast<std::int64_t>(a.tile_rows());
    EXPECT_EQ(graph.tasks(), all ? lu_tasks(nt) : cholesky_tasks(nt));
    try {
      graph.run();
    } catch (const TaskError& error) {
      std::rethrow_if_nested(error);
      throw;
    }
    if (bytes_read != nullptr) *bytes_read = runtime.disk_traffic().read;
    return fetch(flow, a, which);
  }
  static Dense<T> by_flow(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile, bool all,
                          const Setting& setting, Bytes* bytes_read = nullptr) {
    return all ? lu_factors<T>(source, tile, setting, bytes_read)
               : factor<T>(source, tile, setting, bytes_read);
  }
  static double residual_of(const Dense<T>& a, const Dense<T>& factors, bool all) {
    return all ? lu_residual(a, factors) : factor_residual(a, factors);
  }
};
using BothPrecisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Parameterized, BothPrecisions);

TYPED_TEST(Parameterized, GivesTheBitsOfAFlowForAnySizeBesideTheTile) {
  using T = TypeParam;
  for (const bool all : {false, true})
    for (const int n : {1, 2, 15, 16, 17, 61, 127, 200}) {
      const auto a = this->dominant_matrix(n);
      const Dense<T> factors = this->factor_of(a, 16, all, {});
      EXPECT_LT(this->residual_of(dense<T>(*a), factors, all), 30) << n;
      EXPECT_TRUE(factors == this->by_flow(a, 16, all, {})) << n;
    }
}

TYPED_TEST(Parameterized, GivesTheSameBitsOutOfCoreUnderEveryPolicy) {
  using T = TypeParam;
  const int n = 250, tile = 24;  // 11 x 11 tiles
  const Bytes tile_bytes = (tile * tile * sizeof(T) + 4095) / 4096 * 4096;
  for (const bool all : {false, true}) {
    const auto a = this->dominant_matrix(n);
    const Dense<T> in_core = this->by_flow(a, tile, all, {});
    for (const std::string_view policy : schedule::policy_names())
      for (const Bytes tiles : {Bytes{16}, Bytes{31}}) {
        Bytes bytes_read = 0;
        const Setting setting{.memory = std::max<Bytes>(tiles * tile_bytes, 65536),
                              .scheduler = std::string(policy)};
        EXPECT_TRUE(this->factor_of(a, tile, all, setting, &bytes_read) == in_core)
            << policy << ", " << tiles;
        EXPECT_GT(bytes_read, 0u) << policy << ", " << tiles;
      }
  }
}

TYPED_TEST(Parameterized, GivesARightFactorBesideDevices) {
  using T = TypeParam;
  const auto a = this->dominant_matrix(200);
  for (const bool all : {false, true})
    for (const char* policy : {"dmdas", "blocks", "darts", "owner-load", "heteroprio"})
      for (const char* devices : {"emulated:memory=128KiB", "emulated:memory=128KiB,count=2"}) {
        const Dense<T> factors = this->factor_of(a, 24, all, {.scheduler = policy, .devices = devices});
        EXPECT_LT(this->residual_of(dense<T>(*a), factors, all), 30) << policy << ", " << devices;
      }
}

TYPED_TEST(Parameterized, NamesTheColumnWhereTheMatrixIsNotPositiveDefinite) {
  using T = TypeParam;
  auto a = dense<T>(*this->dominant_matrix(100));
  a(70, 70) = -1;
  try {
    this->factor_of(std::make_shared<GivenMatrix<T>>(a), 16, false, {});
    FAIL() << "nothing was thrown";
  } catch (const NumericalError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("column 70"));
  }
}

}  // namespace
}  // namespace fairlead::linalg::testing
