// Files with factors that are damaged, truncated, of another kind or of a newer version are refused, and none is read
// wrongly.
#include <fairlead/solver.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "files_may_not_grow.hpp"
#include "solver/factor_systems.hpp"
#include "temporary_directory.hpp"

namespace fairlead::linalg {
namespace {

using testing::HasSubstr;
using tests::DenseSystem;
using tests::factor_options;
using tests::FilesMayNotGrow;
using tests::load_options;
using tests::system_for;
using tests::TemporaryDirectory;
using tests::view_of;

std::string content_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// A file with factors of a matrix of 40 x 40 in tiles of 16, and its content.
struct SavedFactors {
  explicit SavedFactors(Method method)
      : system(system_for<double>(method, 40, 2, 3)), path(directory.path() / "A.factor") {
    Solver solver(factor_options(method));
    Factorization factors = solver.factor(view_of(system));
    factors.save(path);
    solution = factors.solve(std::span<const double>(system.b), 2);
    content = content_of_file(path);
  }
  /// The error of a solve and a determinant with this content; empty if there is none.
  std::string error_with(const std::string& changed) const {
    write_file(path, changed);
    try {
      Factorization factors = load_factorization(path, load_options());
      const std::vector<double> x = factors.solve(std::span<const double>(system.b), 2);
      static_cast<void>(factors.log_determinant());
      EXPECT_EQ(x, solution);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  TemporaryDirectory directory;
  DenseSystem<double> system;
  std::string path, content;
  std::vector<double> solution;
};

class FactorFileOf : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, FactorFileOf, testing::ValuesIn(tests::every_method()));

// Every byte belongs to a checksum. The data of QR that a solve does not need are read by saving them again.
TEST_P(FactorFileOf, ReportsEachFlippedByte) {
  const SavedFactors saved(GetParam());
  std::mt19937_64 random(5);
  for (int i = 0; i < 40; ++i) {
    std::string changed = saved.content;
    // Some in the header and the table, most in the data.
    const std::size_t end = i % 4 == 0 ? 8192 : changed.size(), at = random() % end;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    write_file(saved.path, changed);
    EXPECT_THROW(load_factorization(saved.path, load_options()).save(saved.path + "2"), InputError)
        << "byte " << at;
    const std::string error = saved.error_with(changed);
    if (error.empty()) continue;  // the solve did not read that datum, and its result was right
    EXPECT_THAT(error, HasSubstr(saved.path)) << "byte " << at;
  }
}

TEST_P(FactorFileOf, ReportsEachTruncation) {
  const SavedFactors saved(GetParam());
  std::mt19937_64 random(6);
  std::vector<std::size_t> sizes{0, 1, 7, 8, 100, 4095, 4096, 4097, saved.content.size() - 1};
  for (int i = 0; i < 20; ++i) sizes.push_back(random() % saved.content.size());
  for (const std::size_t size : sizes)
    EXPECT_THAT(saved.error_with(saved.content.substr(0, size)), HasSubstr("truncated")) << size;
  EXPECT_THAT(saved.error_with(saved.content + "x"), HasSubstr("more than"));
}

TEST(FactorFile, NamesTheDamagedTile) {
  const SavedFactors saved(Method::lu_nopivot);
  std::string changed = saved.content;
  changed[4096 * 2 + 10] =
      static_cast<char>(changed[4096 * 2 + 10] ^ 1);  // the first tile, after header and table
  const std::string error = saved.error_with(changed);
  EXPECT_THAT(error, HasSubstr("tile (0, 0)"));
  EXPECT_THAT(error, HasSubstr("bytes 8192 to 12287"));
}

TEST(FactorFile, RefusesOtherFiles) {
  const SavedFactors saved(Method::cholesky);
  EXPECT_THAT(saved.error_with("\x93NUMPY and so on"), HasSubstr("not a file with factors"));
  EXPECT_THAT(saved.error_with(std::string(100000, '\0')), HasSubstr("not a file with factors"));
  EXPECT_THAT(saved.error_with(std::string(100000, 'x')), HasSubstr("not a file with factors"));
  std::string newer = saved.content;
  newer[8] = 2;
  EXPECT_THAT(saved.error_with(newer), HasSubstr("version 2"));
  EXPECT_THROW(load_factorization(saved.path + ".missing", load_options()), InputError);
  EXPECT_THROW(load_factorization(saved.directory.path(), load_options()), InputError);
  EXPECT_EQ(saved.error_with(saved.content), "");
}

TEST(FactorFile, LeavesTheOldFileIfItCannotBeWritten) {
  const SavedFactors saved(Method::lu);
  Factorization factors = load_factorization(saved.path, load_options());
  EXPECT_THROW(factors.save(saved.directory.path() / "missing" / "A.factor"), SystemError);
  {
    const FilesMayNotGrow full(16 * 1024);
    EXPECT_THROW(factors.save(saved.path), SystemError);
  }
  EXPECT_EQ(content_of_file(saved.path), saved.content);
  factors.save(saved.path);  // replaces the file that it reads
  EXPECT_EQ(content_of_file(saved.path), saved.content);
}

}  // namespace
}  // namespace fairlead::linalg
