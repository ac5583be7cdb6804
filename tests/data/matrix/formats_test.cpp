// Files are recognized by their content; a file that cannot be used is refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>
#include <string>

#include "data/matrix/formats.hpp"
#include "data/matrix/kinds.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

template <class Open>
std::string refused(const Open& open) {
  try {
    open();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

class MatrixFiles : public testing::Test {
 protected:
  std::string refused_file(const std::string& name, const std::string& text) const {
    const auto path = directory.file(name, text);
    return refused([&] { open_matrix_file(path); });
  }
  std::string refused_raw(const std::string& text, const ArrayLayout& layout, Bytes offset) const {
    const auto path = directory.file("A.bin", text);
    return refused([&] { open_raw_file(path, layout, offset); });
  }
  Directory directory;
};

TEST_F(MatrixFiles, ANpyFileIsRecognizedWhateverItsName) {
  const auto matrix = open_matrix_file(directory.file("A.data", test::matrix("<f4", true, 5, 6)));
  EXPECT_EQ(matrix->rows(), 5u);
  EXPECT_EQ(matrix->element(), ElementType::float32);
  double value = 0;
  matrix->read_block<double>(4, 1, 5, 1, &value, 1);
  EXPECT_EQ(value, element(4, 5));
}

TEST_F(MatrixFiles, AColonInTheNameIsPartOfIt) {
  EXPECT_EQ(open_matrix_file(directory.file("A::b", test::matrix("<f4", true, 5, 6)))->columns(), 6u);
}

TEST_F(MatrixFiles, OtherFormatsAreRefusedWithAdvice) {
  EXPECT_THAT(refused_file("A.csv", "1.0,2.0\n"),
              AllOf(HasSubstr("A.csv: is not an .npy file (it does not begin as numpy.save begins it)"),
                    HasSubstr("a raw file needs a description")));
  EXPECT_THAT(refused_file("A.npz", "PK\x03\x04"), HasSubstr("numpy.savez"));
  EXPECT_THAT(refused_file("A.npy.gz", "\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(refused_file("A.mtx", "%%MatrixMarket matrix array real general\n"),
              HasSubstr("Matrix Market"));
  EXPECT_THAT(refused_file("A.npy", ""), HasSubstr("A.npy: is empty"));
  EXPECT_THAT(refused([&] { open_matrix_file(directory.path()); }), HasSubstr("is a directory, not a file"));
  EXPECT_THAT(refused([&] { open_matrix_file(directory / "missing"); }), HasSubstr("No such file"));
  EXPECT_THAT(refused_file("A.npy", "\x93NUM"), HasSubstr("is truncated"));
}

TEST_F(MatrixFiles, ARawFileThatIsTooShortIsRefusedWithTheMissingBytes) {
  EXPECT_EQ(open_raw_file(directory.file("A.bin", std::string(5 * 6 * 4 + 3, 'x')),
                          layout_of("<f4", false, 5, 6), 3)
                ->rows(),
            5u);
  EXPECT_THAT(refused_raw(std::string(5 * 6 * 4 + 2, 'x'), layout_of("<f4", false, 5, 6), 3),
              AllOf(HasSubstr("A.bin: is too short: it has 122 bytes"), HasSubstr("123 (1 are missing)")));
  EXPECT_THAT(refused_raw("", layout_of("<f8", true, 1, 1), 0), HasSubstr("8 (8 are missing)"));
}

TEST_F(MatrixFiles, ARawFileNeedsAPossibleDescription) {
  EXPECT_THAT(refused_raw("x", layout_of("<f8", true, 0, 3), 0), HasSubstr("is empty: its shape is (0, 3)"));
  EXPECT_THAT(refused_raw("x", layout_of("<f8", true, std::uint64_t{1} << 40, std::uint64_t{1} << 40), 0),
              HasSubstr("larger than any file"));
  EXPECT_THAT(refused_raw("x", layout_of("<f8", true, 1, 1), ~std::uint64_t{0}), HasSubstr("is too short"));
}

}  // namespace
}  // namespace fairlead::data
