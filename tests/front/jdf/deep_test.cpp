// Deeply nested texts are refused before they overflow the stack.
#include <gtest/gtest.h>

#include <string>

#include "front/jdf/read.hpp"
#include "sanitized.hpp"

namespace fairlead::jdf::tests {
namespace {

std::string times(std::size_t count, std::string_view what) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += what;
  return out;
}

}  // namespace

TEST(DeepJdf, ParenthesesAndSigns) {
  for (const char* opening : {"(", "-", "!", "k ? ", "k ? k : ", "f("}) {
    const ReadText it =
        read_text("T(k)\nk = 0 .. " + times(200'000, opening) + "1\n: A(k)\nRW X <- A(k)\nBODY\nEND\n");
    EXPECT_NE(it.messages.find("nested too deeply"), std::string::npos) << opening;
  }
}

TEST(DeepJdf, LongSums) {
  EXPECT_EQ(read_text("N = 1" + times(900, " + 1") + "\n").messages, "");
  EXPECT_NE(read_text("N = 1" + times(200'000, " + 1") + "\n").messages.find("too long an expression"),
            std::string::npos);
}

TEST(DeepJdf, GlobalsThatDefineEachOther) {
  std::string text = "G0 = 1\n";
  for (int i = 1; i < 5000; ++i) text += "G" + std::to_string(i) + " = G" + std::to_string(i - 1) + "\n";
  const ReadText it = read_text(text);
  ASSERT_EQ(it.messages, "");
  const Settings none(it.file);
  EXPECT_EQ(Evaluator(it.file, none).global(50, {}).integer(), 1);
  EXPECT_THROW(Evaluator(it.file, none).global(4999, {}), EvaluationError);
}

TEST(DeepJdf, UnclosedBodiesAndBrackets) {
  for (const char* opening : {"BODY [\n", "T(\n", "[ ", "%{ ", "extern \"C\" %{ ", "/* ", "\" ", "BODY\n"})
    EXPECT_NE(read_text(times(20'000, opening)).errors, 0U) << opening;
}

// No name needs a search of the whole file, which would take minutes.
TEST(DeepJdf, FilesWithVeryManyNames) {
  constexpr int names = ::fairlead::tests::sanitized ? 5'000 : 20'000;
  std::string text;
  for (int i = 0; i < names; ++i) {
    const std::string n = std::to_string(i);
    text += "G" + n + " [type = int]\n";
    text += "T" + n + "(k)\nk = 0 .. G" + n + "\n: A" + n + "(k)\nX <- A" + n + "(k)\nBODY\nEND\n";
  }
  text += "S(k)\nk = 0 .. 3\n: A0(k)\nRW X <- A0(k)\n" + times(names, " -> k == -1 ? X S(unknown)\n") +
          "BODY\nEND\n";
  EXPECT_EQ(read_text(text).errors, static_cast<unsigned>(names));
}

TEST(DeepJdf, NestedRanges) {
  std::string parameters, ranges;
  for (int i = 0; i < 1000; ++i) {
    parameters += (i == 0 ? "p" : ", p") + std::to_string(i);
    ranges += "p" + std::to_string(i) + " = 0 .. 0\n";
  }
  const ReadText it = read_text("T(" + parameters + ")\n" + ranges + ": A(0)\nRW X <- A(0)\nBODY\nEND\n");
  ASSERT_EQ(it.messages, "");
  EXPECT_THROW(unroll(it.file, Settings(it.file)), InputError);
}

TEST(DeepJdf, GraphsThatAreTooLarge) {
  const ReadText it =
      read_text("T(k, m)\nk = 0 .. 2000000000\nm = 0 .. 2000000000\n: A(0)\nRW X <- A(0)\nBODY\nEND\n");
  EXPECT_THROW(unroll(it.file, Settings(it.file), {.tasks = 1000}), InputError);
  const ReadText empty =
      read_text("T(k, m)\nk = 0 .. 2000000000\nm = 0 .. -1\n: A(0)\nRW X <- A(0)\nBODY\nEND\n");
  EXPECT_THROW(unroll(empty.file, Settings(empty.file), {.steps = 10'000}), InputError);
}

}  // namespace fairlead::jdf::tests
