// Right-hand sides for kept factors are divided into blocks that fit into memory.
#include "solver/column_blocks.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::solver {
namespace {

constexpr std::int64_t unknowns = 640, columns = 50;

class ColumnBlocksOfFactors : public testing::Test {
 protected:
  ColumnBlocksOfFactors() : b_(static_cast<std::size_t>(unknowns * columns)) {
    const auto system = tests::system_for<double>(linalg::Method::cholesky, unknowns, 1, 1);
    linalg::Solver solver(tests::factor_options(linalg::Method::cholesky));
    solver.factor(tests::view_of(system)).save((directory_ / "A.factor").string());
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = static_cast<double>(i);
  }
  LinearSystem system() const {
    return {.a = nullptr,
            .b = linalg::stored_matrix_of(linalg::matrix_in_memory(b_.data(), unknowns, columns)),
            .factors = std::make_shared<const FactorFile>(directory_ / "A.factor")};
  }
  static Config with_memory(Bytes bytes) {
    Config config;
    config.set("memory", bytes);
    return config;
  }

  const tests::TemporaryDirectory directory_;
  std::vector<double> b_;
};

TEST_F(ColumnBlocksOfFactors, AreOneBlockIfTheColumnsFit) {
  const LinearSystem whole = system();
  const ColumnBlocks<double> blocks(whole, with_memory(1_MiB));
  EXPECT_EQ(blocks.count(), 1);
  EXPECT_EQ(blocks.columns(0), columns);
  EXPECT_EQ(blocks.bytes(), 0U);
}

TEST_F(ColumnBlocksOfFactors, TogetherHaveEachColumnOnce) {
  const LinearSystem whole = system();
  for (const Bytes memory : {65'536U, 100'000U, 200'000U, 300'000U}) {
    ColumnBlocks<double> blocks(whole, with_memory(memory));
    EXPECT_GT(blocks.count(), 1) << memory;
    std::int64_t next = 0;
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      EXPECT_EQ(blocks.first(block), next);
      next += blocks.columns(block);
      EXPECT_LE(static_cast<Bytes>(blocks.columns(block) * unknowns) * sizeof(double), blocks.bytes());
      const LinearSystem part = blocks.part(block);
      std::vector<double> some(static_cast<std::size_t>(unknowns * blocks.columns(block)));
      std::vector<std::byte> staging(linalg::source_staging_bytes);
      part.b->read_block<double>(0, unknowns, 0, static_cast<std::uint64_t>(blocks.columns(block)),
                                 some.data(), unknowns, staging);
      EXPECT_EQ(some.front(), static_cast<double>(blocks.first(block) * unknowns));
      EXPECT_EQ(some.back(), static_cast<double>(next * unknowns - 1));
    }
    EXPECT_EQ(next, columns) << memory;
  }
}

TEST_F(ColumnBlocksOfFactors, NameAnElementThatIsNotFinite) {
  b_[static_cast<std::size_t>(49 * unknowns + 3)] = std::numeric_limits<double>::infinity();
  const LinearSystem whole = system();
  ColumnBlocks<double> blocks(whole, with_memory(64_KiB));
  try {
    blocks.part(blocks.count() - 1);
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("row 3, column 49"), std::string::npos) << error.what();
  }
}

TEST(ColumnBlocks, TogetherHaveTheWorstErrorAndTheSumOfTimes) {
  SolveResult all{.backward_error = 1e-16, .refinement_steps = 1, .seconds = 1};
  add_block(all, {.backward_error = 3e-16, .refinement_steps = 0, .seconds = 2});
  EXPECT_EQ(all.backward_error, 3e-16);
  EXPECT_EQ(all.refinement_steps, 1);
  EXPECT_EQ(all.seconds, 3);
  add_block(all, {.backward_error = std::numeric_limits<double>::quiet_NaN()});
  add_block(all, {.backward_error = 1e-16});
  EXPECT_TRUE(std::isnan(all.backward_error));
}

}  // namespace
}  // namespace fairlead::solver
