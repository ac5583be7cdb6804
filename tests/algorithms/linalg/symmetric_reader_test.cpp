// A symmetric matrix, however it is stored: the tiles get its elements, or the error names the invalid element.
#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/linalg/source_kinds.hpp"
#include "algorithms/linalg/symmetric_reader.hpp"
#include "algorithms/linalg/symmetric_source.hpp"
#include "algorithms/linalg/world.hpp"
#include "sanitized.hpp"

namespace fairlead::linalg::testing {
namespace {

using data::test::MatrixKind;

/// Over the ways in which a matrix can be stored.
class SymmetricReading : public ::testing::TestWithParam<MatrixKind> {
 protected:
  std::shared_ptr<const data::StoredMatrix> stored_as(const Dense<double>& a) {
    return store(GetParam(), directory_, a);
  }
  /// The beginning of a message about the matrix.
  std::string named(const std::string& message) const { return GetParam().file + message; }

  /// The result of reading into tiles of T: the asymmetry, or the error.
  template <class T>
  std::string judged(const Dense<double>& a, Stored stored = Stored::both) {
    Runtime runtime(config_of({.memory = plenty}));
    SymmetricReader<T> reader(stored_as(a), stored);
    const auto tiles = runtime.tiled<T>("A", a.rows, a.columns, 8, Tiles::lower);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    try {
      wait_for_results(flow);
      reader.require_symmetric();
    } catch (const NumericalError& error) {
      return error.what();
    }
    return reader.asymmetry() == 0 ? "symmetric" : "nearly symmetric";
  }

  /// The tiles' lower triangle after reading.
  Dense<double> read(const Dense<double>& a, int tile, Bytes memory = plenty, Stored stored = Stored::both) {
    Runtime runtime(config_of({.memory = memory}));
    SymmetricReader<double> reader(stored_as(a), stored);
    const auto tiles = runtime.tiled<double>("A", a.rows, a.columns, tile, Tiles::lower);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    EXPECT_EQ(flow.submitted(), reader.tasks(tiles, runtime.capacity_bytes()));
    wait_for_results(flow);
    reader.require_symmetric();
    return fetch(flow, tiles, Tiles::lower);
  }

  std::string refusal(const Dense<double>& a, int tile, Stored stored = Stored::both) {
    try {
      read(a, tile, plenty, stored);
    } catch (const NumericalError& error) {
      return error.what();
    }
    return "not refused";
  }

 private:
  data::test::Directory directory_;
};

Dense<double> lower_of(Dense<double> a) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = 0;
  return a;
}

TEST_P(SymmetricReading, IsReadIntoTheTiles) {
  for (const auto& [n, tile] : {std::pair(1, 4), {5, 8}, {32, 8}, {61, 8}, {150, 7}, {290, 16}}) {
    const auto a = dense<double>(GeneratedSpd<double>(n, 5));
    EXPECT_TRUE(read(a, tile) == lower_of(a)) << n << " in tiles of " << tile;
  }
}

TEST_P(SymmetricReading, IsReadWithLittleMemory) {
  const auto a = dense<double>(GeneratedSpd<double>(200, 5));
  EXPECT_TRUE(read(a, 16, 65536) == lower_of(a));
}

TEST_P(SymmetricReading, NamesANonFiniteElement) {
  const auto good = dense<double>(GeneratedSpd<double>(100, 5));
  for (const auto& [row, column] :
       {std::pair(0, 0), {99, 99}, {17, 3}, {3, 17}, {99, 0}, {0, 99}, {50, 49}}) {
    auto a = good;
    a(row, column) = std::numeric_limits<double>::quiet_NaN();
    const std::string place = "row " + std::to_string(row) + ", column " + std::to_string(column);
    EXPECT_THAT(refusal(a, 16), ::testing::HasSubstr(named(": the element in " + place +
                                                           " (counted from 0) is not a number (NaN)")));
    a(row, column) = -std::numeric_limits<double>::infinity();
    EXPECT_THAT(refusal(a, 16), ::testing::HasSubstr(place + " (counted from 0) is infinite"));
  }
}

TEST_P(SymmetricReading, NamesAnAsymmetricElement) {
  const auto good = dense<double>(GeneratedSpd<double>(100, 5));
  for (const auto& [row, column] : {std::pair(0, 1), {17, 3}, {3, 17}, {99, 0}, {0, 99}, {98, 99}}) {
    auto a = good;
    a(row, column) += 0.25;
    EXPECT_THAT(refusal(a, 16),
                ::testing::HasSubstr(named(" is not symmetric: row " + std::to_string(std::min(row, column)) +
                                           ", column " + std::to_string(std::max(row, column)) + " ")));
  }
}

// Asymmetry by rounding is accepted.
TEST_P(SymmetricReading, AcceptsAsymmetryByRounding) {
  auto a = dense<double>(GeneratedSpd<double>(100, 5));
  a(17, 3) += 10 * std::numeric_limits<double>::epsilon() * 100;
  EXPECT_TRUE(read(a, 16) == lower_of(a));
}

// One large element, such as a penalty on the diagonal, does not relax the check of other elements.
TEST_P(SymmetricReading, ComparesEachPairRelativeToItsSize) {
  constexpr double rounding = std::numeric_limits<double>::epsilon();
  for (const double penalty : {1.0, 1e13, 1e30, 1e200}) {
    if (tests::sanitized && penalty != 1e30) continue;
    Dense<double> a{50, 50, std::vector<double>(2500)};
    for (std::int64_t i = 0; i < 50; ++i) a(i, i) = 2;
    for (std::int64_t i = 1; i < 50; ++i) a(i, i - 1) = a(i - 1, i) = -1;
    a(0, 0) = a(49, 49) = penalty;
    const bool fits = penalty < 1e38;  // in single precision
    EXPECT_EQ(judged<double>(a), "symmetric");
    if (fits) {
      EXPECT_EQ(judged<float>(a), "symmetric");
    }
    for (const auto& [row, column] : {std::pair(24, 25), {0, 1}, {48, 49}, {3, 40}}) {
      auto odd = a;
      odd(row, column) += 1e-3;
      const std::string place = "row " + std::to_string(row) + ", column " + std::to_string(column) + " ";
      for (const Stored stored : {Stored::both, Stored::mean}) {
        EXPECT_THAT(judged<double>(odd, stored), ::testing::HasSubstr("not symmetric: " + place)) << penalty;
        if (fits) {
          EXPECT_THAT(judged<float>(odd, stored), ::testing::HasSubstr("not symmetric: " + place));
        }
      }
      odd = a;
      odd(row, column) += 3 * rounding;  // of 2, or of -1
      EXPECT_EQ(judged<double>(odd), "nearly symmetric") << penalty;
      if (fits) {
        EXPECT_EQ(judged<float>(odd), "nearly symmetric");
      }
    }
  }
}

// The sums of X^T X have rounding errors of their terms, also if they cancel.
TEST_P(SymmetricReading, AcceptsRoundingOfProductsThatCancel) {
  Dense<double> a{20, 20, std::vector<double>(400)};
  for (std::int64_t i = 0; i < 20; ++i) {
    a(i, i) = std::ldexp(1.0, static_cast<int>(i));
    for (std::int64_t j = 0; j < i; ++j)
      a(i, j) = 1e-17 * std::sqrt(a(i, i) * a(j, j)), a(j, i) = -3 * a(i, j);
  }
  EXPECT_EQ(judged<double>(a), "nearly symmetric");
  EXPECT_EQ(judged<float>(a), "nearly symmetric");
}

TEST_P(SymmetricReading, ComparesNumbersWhoseDifferenceOverflows) {
  Dense<double> a{2, 2, {1, 1.2e308, -1.2e308, 1}};
  EXPECT_THAT(judged<double>(a), ::testing::HasSubstr("not symmetric"));
  a = {2, 2, {0, 4e-324, 2e-323, 0}};  // some of the smallest numbers
  EXPECT_EQ(judged<double>(a), "nearly symmetric");
}

/// `a` with garbage on one side of the diagonal.
Dense<double> half_of(Dense<double> a, Stored stored) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i)
      if (stored == Stored::lower ? i < j : i > j) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  return a;
}

TEST_P(SymmetricReading, ReadsOneTriangleAndIgnoresTheOther) {
  for (const auto& [n, tile] : {std::pair(1, 4), {5, 8}, {61, 8}, {150, 7}, {290, 16}}) {
    const auto a = dense<double>(GeneratedSpd<double>(n, 5));
    for (const Stored stored : {Stored::lower, Stored::upper}) {
      const auto half = half_of(a, stored);
      EXPECT_TRUE(read(half, tile, plenty, stored) == lower_of(a)) << n << " in tiles of " << tile;
      // The residual is computed from the full symmetric matrix.
      EXPECT_TRUE(dense<double>(SymmetricSource(stored_as(half), stored)) == a) << n;
    }
  }
}

TEST_P(SymmetricReading, NamesTheElementInTheUsedTriangle) {
  const auto good = dense<double>(GeneratedSpd<double>(100, 5));
  auto a = good;
  a(17, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(a, 16, Stored::lower), ::testing::HasSubstr("row 17, column 3 "));
  EXPECT_EQ(refusal(a, 16, Stored::upper), "not refused");
  a = good;
  a(3, 17) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(a, 16, Stored::upper), ::testing::HasSubstr("row 3, column 17 "));
  EXPECT_EQ(refusal(a, 16, Stored::lower), "not refused");
}

TEST_P(SymmetricReading, UsesTheMeanOfTrianglesThatDifferByRounding) {
  for (const auto& [n, tile] : {std::pair(5, 8), {61, 8}, {150, 7}, {290, 16}}) {
    auto a = dense<double>(GeneratedSpd<double>(n, 5)), mean = a;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (i != j) a(i, j) += 1e-10 * static_cast<double>(i % 7 - j % 5);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) mean(i, j) = a(i, j) / 2 + a(j, i) / 2;
    EXPECT_TRUE(read(a, tile, plenty, Stored::mean) == lower_of(mean)) << n << " in tiles of " << tile;
    EXPECT_TRUE(dense<double>(SymmetricSource(stored_as(a), Stored::mean)) == mean) << n;
    EXPECT_THAT(refusal(a, tile), ::testing::HasSubstr("--symmetrize"));
    a(0, n - 1) += 1e-3;
    EXPECT_THAT(refusal(a, tile, Stored::mean), ::testing::HasSubstr("that is more than rounding"));
  }
}

// In single precision all elements are 0: the difference is relative to the file's elements.
TEST_P(SymmetricReading, ComparesElementsThatUnderflowInTheTiles) {
  auto a = dense<double>(GeneratedSpd<double>(61, 5));
  for (double& element : a.elements) element *= 1e-69;
  for (std::int64_t i = 0; i < 60; ++i) a(i, 60) *= 1 + 1e-9;
  const auto compare = [&] {
    Runtime runtime(config_of({.memory = plenty}));
    SymmetricReader<float> reader(stored_as(a), Stored::mean);
    const auto tiles = runtime.tiled<float>("A", 61, 61, 8, Tiles::lower);
    Flow flow(runtime);
    reader.submit(flow, tiles, runtime.capacity_bytes());
    wait_for_results(flow);
    reader.require_symmetric();
  };
  EXPECT_NO_THROW(compare());
  a(0, 60) += 1e-70;
  EXPECT_THROW(compare(), NumericalError);
}

TEST_P(SymmetricReading, RejectsANonSquareMatrix) {
  const Dense<double> a{2, 3, std::vector<double>(6, 1.0)};
  EXPECT_THROW(SymmetricReader<double>{stored_as(a)}, InputError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SymmetricReading, ::testing::ValuesIn(double_precision_kinds()));

}  // namespace
}  // namespace fairlead::linalg::testing
