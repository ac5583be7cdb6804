// Errors of a file are reported when it is opened, with its name and a remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fairlead/error.hpp>

#include "data/npy/files.hpp"
#include "data/npy/npy_file.hpp"

namespace fairlead::data {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

class NpyHeaders : public testing::Test {
 protected:
  std::string error_of(const std::filesystem::path& path) {
    try {
      NpyFile file(path);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      return error.what();
    }
    return "no error";
  }
  std::string error_in(const std::string& bytes) { return error_of(directory.file("A.npy", bytes)); }
  std::string error_with(const std::string& text) {
    return error_in(header(1, text) + std::string(100000, '\0'));
  }
  std::string error_with_type(const std::string& descr) {
    return error_with(dictionary(descr, false, "(3, 4)"));
  }

  Directory directory;
};

TEST_F(NpyHeaders, TheDictionaryMayHaveAnySpelling) {
  for (const std::string text : {
           "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }      \n",
           "{\"shape\":(3,4),\"fortran_order\":True,\"descr\":\"<f4\"}",
           " { 'fortran_order' : True , 'descr' : '<f4' , 'shape' : ( 3L , 4L , ) } ",
       }) {
    const NpyFile file(directory.file("A.npy", header(1, text) + elements("<f4", true, 3, 4)));
    EXPECT_EQ(file.element(), ElementType::float32);
    EXPECT_EQ(file.order(), StorageOrder::fortran);
    EXPECT_EQ(file.shape(), (std::vector<std::uint64_t>{3, 4}));
    EXPECT_EQ(file.data_offset(), 10 + text.size());
  }
}

TEST_F(NpyHeaders, TheErrorNamesMissingAndUnreadableFiles) {
  EXPECT_THAT(error_of(directory / "nothing.npy"), HasSubstr("No such file"));
  EXPECT_THAT(error_of(directory.path()), HasSubstr("is a directory"));
  const auto pipe = directory / "pipe.npy";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of(pipe), HasSubstr("device or pipe"));
}

// As another user if the test runs as root, which may read everything.
TEST_F(NpyHeaders, TheErrorNamesAFileWithoutReadPermission) {
  const auto secret = directory.file("secret.npy", matrix("<f8", false, 2, 2));
  ::chmod(directory.path().c_str(), 0755);
  ::chmod(secret.c_str(), 0);
  const auto me = ::geteuid();
  if (me == 0) ::setfsuid(65534);
  const auto text = error_of(secret);
  if (me == 0) ::setfsuid(me);
  EXPECT_THAT(text, HasSubstr("Permission denied"));
}

TEST_F(NpyHeaders, OtherFormatsAreRejected) {
  EXPECT_THAT(error_in(""), HasSubstr("is empty (0 bytes)"));
  EXPECT_THAT(error_in("1.0,2.0\n3.0,4.0\n"), HasSubstr("is not an .npy file"));
  EXPECT_THAT(error_in("PK\x03\x04"), HasSubstr("is not an .npy file"));
  EXPECT_THAT(error_in(header(4, dictionary("<f8", false, "(2, 2)"))), HasSubstr("version 4.0"));
}

TEST_F(NpyHeaders, TheErrorOfATruncatedFileCountsTheMissingBytes) {
  const auto whole = matrix("<f8", false, 10, 10);
  EXPECT_THAT(error_in(whole.substr(0, whole.size() - 13)),
              AllOf(HasSubstr("truncated"), HasSubstr("(13 are missing)")));
  const auto only_header = whole.substr(0, whole.size() - 800);
  EXPECT_THAT(error_in(only_header), HasSubstr("(800 are missing)"));
  EXPECT_THAT(error_in(only_header.substr(0, only_header.size() - 7)), HasSubstr("(7 are missing)"));
  for (std::size_t bytes = 1; bytes < only_header.size(); ++bytes)
    ASSERT_THAT(error_in(whole.substr(0, bytes)), HasSubstr("truncated")) << bytes;
}

TEST_F(NpyHeaders, ExtraBytesAreNoError) {
  EXPECT_NO_THROW(NpyFile(directory.file("A.npy", matrix("<f8", false, 3, 3) + "and more")));
}

TEST_F(NpyHeaders, TheErrorNamesOtherElementTypes) {
  EXPECT_THAT(error_with_type("|O"), AllOf(HasSubstr("Python objects"), HasSubstr("'|O'")));
  EXPECT_THAT(error_with_type("<i8"), AllOf(HasSubstr("64-bit integers"), HasSubstr("astype('f8')")));
  EXPECT_THAT(error_with_type("<u2"), HasSubstr("unsigned 16-bit integers"));
  EXPECT_THAT(error_with_type("<c32"),
              AllOf(HasSubstr("complex numbers of 256 bits"), HasSubstr("astype('c16')")));
  EXPECT_THAT(error_with_type("|b1"), HasSubstr("booleans"));
  EXPECT_THAT(error_with_type("<f2"), HasSubstr("16-bit floating point"));
  EXPECT_THAT(error_with_type("<f16"), HasSubstr("128-bit floating point"));
  EXPECT_THAT(error_with_type("<U12"), HasSubstr("strings"));
  EXPECT_THAT(error_with_type("<M8[ns]"), HasSubstr("dates"));
  EXPECT_THAT(error_with_type(""), HasSubstr("unknown type"));
  EXPECT_THAT(error_with("{'descr': [('caf\xc3\xa9', '<f8')], 'fortran_order': False, 'shape': (3,), }"),
              HasSubstr("records of several fields"));
}

TEST_F(NpyHeaders, TheErrorNamesOtherShapes) {
  EXPECT_THAT(error_with(dictionary("<f8", false, "()")), HasSubstr("0 dimensions"));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(2, 3, 4)")),
              AllOf(HasSubstr("3 dimensions"), HasSubstr("(2, 3, 4)")));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(0, 5)")),
              AllOf(HasSubstr("is empty"), HasSubstr("(0, 5)")));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(0,)")), AllOf(HasSubstr("is empty"), HasSubstr("(0,)")));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(4294967296, 4294967296)")),
              HasSubstr("larger than any file"));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(99999999999999999999, 2)")), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(error_with(dictionary("<f8", false, "(-3, 2)")), HasSubstr("malformed"));
}

TEST_F(NpyHeaders, MalformedDictionariesAreErrors) {
  for (const std::string text :
       {"", "{", "{}", "nonsense", "{'descr': '<f8'",
        "{'descr': '<f8, 'fortran_order': False, 'shape': (3, 4)}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3, 4)}", "{'descr': '<f8', 'shape': (3, 4)}",
        "{'descr': '<f8', 'fortran_order': False}", "{'fortran_order': False, 'shape': (3, 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} extra",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), 'extra': 1}"})
    EXPECT_THAT(error_with(text), HasSubstr("malformed")) << text;
}

TEST_F(NpyHeaders, AnOverlongHeaderIsRejected) {
  EXPECT_THAT(error_in(header(2, std::string(2'000'000, ' '))), HasSubstr("header of 2000000 bytes"));
}

}  // namespace
}  // namespace fairlead::data
