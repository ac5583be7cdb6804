// Invalid input files of `fairlead solve`: refused with their name and the mistake, without an output.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

constexpr const char* usual = "solve A.npy b.npy -o x.npy";
constexpr const char* by_cholesky = "solve A.npy b.npy -o x.npy --method cholesky";

std::string with_element(int row, int column, double value) {
  std::string bytes = spd_elements(40);
  const std::string element = bytes_of({value});
  bytes.replace(static_cast<std::size_t>(row * 40 + column) * sizeof value, sizeof value, element);
  return bytes;
}

// Without the changes of the tests below, the inputs are valid.
TEST(Inputs, GoodOnesAreSolved) {
  Folder folder;
  const Answer answer = folder.run(usual);
  EXPECT_EQ(answer.exit_code, 0) << answer.errors;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "x.npy"));
  EXPECT_EQ(folder.everything().size(), 3u);
}

TEST(Inputs, AMissingFile) {
  Folder folder;
  expect_refused(folder, "solve no.npy b.npy -o x.npy", 1, "no.npy: cannot be opened");
}

TEST(Inputs, ADirectory) {
  Folder folder;
  std::filesystem::create_directory(folder.path() / "D.npy");
  expect_refused(folder, "solve D.npy b.npy -o x.npy", 1, "D.npy: is a directory");
}

TEST(Inputs, AFileWithoutReadPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  Folder folder;
  std::filesystem::permissions(folder.path() / "A.npy", std::filesystem::perms::none);
  expect_refused(folder, usual, 1, "A.npy: cannot be opened for reading: Permission denied");
}

TEST(Inputs, AnEmptyFile) {
  Folder folder;
  folder.file("A.npy", "");
  expect_refused(folder, usual, 1, "A.npy: is empty (0 bytes)");
}

TEST(Inputs, AnotherKindOfFile) {
  Folder folder;
  folder.file("A.npy", "1,2,3\n4,5,6\n");
  expect_refused(folder, usual, 1, "A.npy: is not an .npy file");
}

TEST(Inputs, ATruncatedFile) {
  Folder folder;
  folder.file("A.npy", folder.content("A.npy").substr(0, 5000));
  expect_refused(folder, usual, 1, "A.npy: is truncated: it has 5000 bytes");
}

TEST(Inputs, ATruncatedHeader) {
  Folder folder;
  folder.file("A.npy", folder.content("A.npy").substr(0, 50));
  expect_refused(folder, usual, 1, "A.npy: is truncated: it has 50 bytes");
}

TEST(Inputs, ATruncatedRightHandSide) {
  Folder folder;
  folder.file("b.npy", folder.content("b.npy").substr(0, 400));
  expect_refused(folder, usual, 1, "b.npy: is truncated: it has 400 bytes");
}

TEST(Inputs, PythonObjects) {
  Folder folder;
  folder.array("A.npy", "|O", "(40, 40)", std::string(12800, 'x'));
  expect_refused(folder, usual, 1, "A.npy: holds Python objects");
}

TEST(Inputs, Integers) {
  Folder folder;
  folder.array("A.npy", "<i8", "(40, 40)", spd_elements(40));
  expect_refused(folder, usual, 1, "A.npy: holds 64-bit integers");
}

TEST(Inputs, ComplexNumbers) {
  Folder folder;
  folder.array("A.npy", "<c32", "(40, 40)", spd_elements(40) + spd_elements(40));
  expect_refused(folder, usual, 1, "A.npy: holds complex numbers of 256 bits");
  folder.array("A.npy", "<c16", "(40, 40)", spd_elements(40) + spd_elements(40));
  expect_refused(folder, std::string(usual) + " --refine --tf32", 2, "the files hold complex ones");
}

TEST(Inputs, AMatrixThatIsNotSquare) {
  Folder folder;
  folder.array("A.npy", "<f8", "(50, 32)", spd_elements(40));
  expect_refused(folder, usual, 1, "A.npy has the shape (50, 32)");
}

TEST(Inputs, AVectorInsteadOfAMatrix) {
  Folder folder;
  expect_refused(folder, "solve b.npy b.npy -o x.npy", 1, "b.npy has the shape (40,)");
}

TEST(Inputs, ThreeDimensions) {
  Folder folder;
  folder.array("A.npy", "<f8", "(40, 4, 10)", spd_elements(40));
  expect_refused(folder, usual, 1, "A.npy: has 3 dimensions");
}

TEST(Inputs, ARightHandSideOfAnotherLength) {
  Folder folder;
  folder.array("b.npy", "<f8", "(39,)", bytes_of(std::vector<double>(39, 1.0)));
  expect_refused(folder, usual, 1, "b.npy the shape (39,)");
}

TEST(Inputs, AnEmptyMatrix) {
  Folder folder;
  folder.array("A.npy", "<f8", "(0, 0)", "");
  folder.array("b.npy", "<f8", "(0,)", "");
  expect_refused(folder, usual, 1, "A.npy: is empty: its shape is (0, 0)");
}

TEST(Inputs, AMatrixThatIsNotSymmetric) {
  Folder folder;
  folder.array("A.npy", "<f8", "(40, 40)", with_element(3, 17, 0.25));
  expect_refused(folder, by_cholesky, 1, "A.npy is not symmetric: row 3, column 17");
}

TEST(Inputs, AnElementThatIsNotANumber) {
  for (const bool lower : {true, false}) {
    Folder folder;
    const int row = lower ? 21 : 4, column = lower ? 4 : 21;
    folder.array("A.npy", "<f8", "(40, 40)",
                 with_element(row, column, std::numeric_limits<double>::quiet_NaN()));
    expect_refused(folder, usual, 1,
                   "A.npy: the element in row " + std::to_string(row) + ", column " + std::to_string(column));
  }
}

TEST(Inputs, AnInfiniteElement) {
  Folder folder;
  folder.array("A.npy", "<f8", "(40, 40)", with_element(9, 9, -std::numeric_limits<double>::infinity()));
  expect_refused(folder, usual, 1, "A.npy: the element in row 9, column 9 (counted from 0) is infinite");
}

TEST(Inputs, ANaNInTheRightHandSide) {
  Folder folder;
  std::vector<double> b(40, 1.0);
  b[4] = std::nan("");
  folder.array("b.npy", "<f8", "(40,)", bytes_of(b));
  expect_refused(folder, usual, 1, "b.npy: the element in row 4");
}

TEST(Inputs, AMatrixThatIsNotPositiveDefinite) {
  Folder folder;
  folder.array("A.npy", "<f8", "(40, 40)", with_element(30, 30, -1));
  expect_refused(folder, by_cholesky, 1, "not positive definite: the factorization fails in column 30");
}

// The same in a later tile: the column counts from the matrix's first.
TEST(Inputs, AMatrixOfManyTilesThatIsNotPositiveDefinite) {
  Folder folder;
  folder.array("A.npy", "<f8", "(40, 40)", with_element(30, 30, -1));
  expect_refused(folder, "solve A.npy b.npy -o x.npy --method cholesky --tile 8", 1,
                 "not positive definite: the factorization fails in column 30");
}

// An old output stays unchanged.
TEST(Inputs, AFailureKeepsTheOldOutput) {
  Folder folder;
  folder.file("x.npy", "precious");
  folder.array("A.npy", "<f8", "(40, 40)", with_element(30, 30, -1));
  expect_refused(folder, by_cholesky, 1, "not positive definite");
  EXPECT_EQ(folder.content("x.npy"), "precious");
}

}  // namespace
}  // namespace fairlead::misuse
