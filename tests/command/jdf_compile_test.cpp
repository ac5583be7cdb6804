// fairlead jdf compile: its output is formatted and compiles; unsupported constructs and unwritable outputs
// are errors.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "command/answer.hpp"
#include "sanitized.hpp"
#include "temporary_directory.hpp"

namespace fairlead {
namespace {

const std::filesystem::path compile_root =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();

bool says(const Answer& answer, std::string_view what) { return answer.text.find(what) != std::string::npos; }

class JdfCompile : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes it.jdf and compiles it to it.cpp.
  Answer compile(const std::string& text) const {
    std::ofstream(path("it.jdf")) << text;
    return fairlead_command("jdf compile '" + path("it.jdf") + "' -o '" + path("it.cpp") + "'");
  }
  Answer shell(const std::string& line) const {
    return answer_of("/bin/bash", "-c \"cd '" + folder_.path().string() +
                                      "' && export PATH=/usr/local/bin:/usr/bin:/bin && " + line + "\"");
  }
  std::string include() const { return "-I'" + (compile_root / "include").string() + "'"; }

  const tests::TemporaryDirectory folder_;
};

/// A class over a matrix, with these flows and this body.
std::string class_of(const std::string& flows, const std::string& body = "{}") {
  return "A [ type = \"parsec_tiled_matrix_t *\" ]\nT(k)\nk = 0 .. A->mt-1\n: A(k, k)\n" + flows +
         "\nBODY\n" + body + "\nEND\n";
}

}  // namespace

TEST_F(JdfCompile, WritesFormattedCode) {
  if (shell("clang-format-14 --version").exit_code != 0) GTEST_SKIP() << "there is no clang-format-14";
  const std::filesystem::path own = compile_root / "tests" / "compiled_jdf";
  std::vector<std::filesystem::path> files{own / "constructs.jdf", own / "edges.jdf"};
  for (const auto& it : std::filesystem::directory_iterator(compile_root / "examples" / "jdf"))
    if (it.path().extension() == ".jdf") files.push_back(it.path());
  for (const auto& it : files) {
    const std::string name = it.stem().string();
    const Answer answer = fairlead_command("jdf compile '" + it.string() + "' -o '" + path(name + ".cpp") +
                                           "' --warnings=false");
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    const Answer formatted =
        shell("clang-format-14 --dry-run --Werror --style=file:'" +
              (compile_root / ".clang-format").string() + "' " + name + ".cpp " + name + ".hpp");
    EXPECT_EQ(formatted.exit_code, 0) << formatted.text;
  }
}

TEST_F(JdfCompile, WritesCAndCppThatCompileWithWarnings) {
  for (const char* name : {"pingpong", "gemm"}) {
    if (tests::sanitized && std::string_view(name) != "gemm") continue;  // it does not see the compilers
    const std::string from = (compile_root / "examples" / "jdf" / name).string() + ".jdf";
    const Answer answer =
        fairlead_command("jdf compile '" + from + "' -o '" + path(std::string(name) + ".cpp") + "'");
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    const Answer cpp = shell("g++ -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only " +
                             include() + " " + name + ".cpp");
    EXPECT_EQ(cpp.exit_code, 0) << cpp.text;
    const Answer c = shell("gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only " + include() + " -I'" +
                           (compile_root / "examples" / "jdf").string() + "' " + name + "_bodies.c");
    EXPECT_EQ(c.exit_code, 0) << c.text;
  }
}

TEST_F(JdfCompile, CompilerErrorsInABodyNameTheJdfLine) {
  ASSERT_EQ(
      compile(class_of("RW x <- A(k, k)\n     -> A(k, k)", "  parsec_taskpool_of(x);\n  A->colour = 3;"))
          .exit_code,
      0);
  const Answer c =
      shell("gcc -Werror=implicit-function-declaration -fsyntax-only " + include() + " it_bodies.c");
  EXPECT_NE(c.exit_code, 0);
  EXPECT_TRUE(says(c, "it.jdf:8:")) << c.text;
  EXPECT_TRUE(says(c, "parsec_taskpool_of")) << c.text;
  EXPECT_TRUE(says(c, "it.jdf:9:")) << c.text;
  EXPECT_TRUE(says(c, "colour")) << c.text;
}

TEST_F(JdfCompile, CompilerErrorsInACallNameTheJdfLine) {
  ASSERT_EQ(compile(class_of("RW x <- A(k, k)\n     -> A(k, A->columns)")).exit_code, 0);
  const Answer cpp = shell("g++ -std=c++20 -fsyntax-only " + include() + " it.cpp");
  EXPECT_NE(cpp.exit_code, 0);
  EXPECT_TRUE(says(cpp, "it.jdf:6:")) << cpp.text;
}

TEST_F(JdfCompile, AFileWithErrorsWritesNoOutput) {
  const Answer answer = compile(class_of("RW x <- A(k, K)\n -> y U(k)"));
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_TRUE(says(answer, "it.jdf:5:14: error: there is no \"K\"")) << answer.text;
  EXPECT_TRUE(says(answer, "it.jdf:6:7: error: there is no task class \"U\"")) << answer.text;
  EXPECT_FALSE(std::filesystem::exists(path("it.cpp")));
  EXPECT_FALSE(std::filesystem::exists(path("it_bodies.c")));
}

TEST_F(JdfCompile, ReportsConstructsWithoutACppForm) {
  const Answer answer = compile(
      "A [ type = \"parsec_tiled_matrix_t *\" ]\n"
      "S(k)\nk = 0 .. 3\nj = 0 .. k\n: A(k, j)\nREAD x <- A(k, j)\nBODY\nEND\n"
      "Q(n)\nn = [ i = 0 .. 3 ] i*i\n: A(n, 0)\nREAD x <- A(n, 0)\nBODY\nEND\n"
      "F(k)\nk = 0 .. 3\nRW x <- NEW\nBODY\n  *(int *)x = k;\nEND\n"
      "G(k)\nk = 0 .. 3\nREAD x <- A(k, k)\nBODY [type = CUDA]\nEND\n");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_TRUE(
      says(answer,
           "it.jdf:4:1: error: j is a range but not a parameter: compile cannot distinguish the tasks of S"))
      << answer.text;
  EXPECT_TRUE(says(answer, "it.jdf:10:1: error: n over local indices cannot be compiled")) << answer.text;
  EXPECT_TRUE(says(answer,
                   "it.jdf:17:9: error: the size of NEW is unknown: F uses no data in memory and has no "
                   "placement (: A(...))"))
      << answer.text;
  EXPECT_TRUE(says(answer, "it.jdf:24:1: error: G has no BODY for CPU cores")) << answer.text;
  EXPECT_FALSE(std::filesystem::exists(path("it.cpp")));
}

TEST_F(JdfCompile, TheSizeOfNewDoesNotComeFromItsType) {
  const Answer answer = compile(class_of("RW x <- NEW  [ type = SMALL ]", "  *(int *)x = k;"));
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(
      says(answer, "it.jdf:5:9: warning: NEW has the size of a whole tile of A here, whatever its type"))
      << answer.text;
}

TEST_F(JdfCompile, ReportsUnwritableOutputs) {
  const std::string example = (compile_root / "examples" / "jdf" / "gemm.jdf").string();
  const Answer nowhere =
      fairlead_command("jdf compile '" + example + "' -o '" + path("not/there/gemm.cpp") + "'");
  EXPECT_NE(nowhere.exit_code, 0);
  EXPECT_TRUE(says(nowhere, "not/there")) << nowhere.text;
  const Answer no_output = fairlead_command("jdf compile '" + example + "'");
  EXPECT_NE(no_output.exit_code, 0);
  EXPECT_TRUE(says(no_output, "fairlead jdf compile needs -o FILE.cpp")) << no_output.text;
  const Answer no_cpp = fairlead_command("jdf compile '" + example + "' -o '" + path("gemm.txt") + "'");
  EXPECT_NE(no_cpp.exit_code, 0);
  EXPECT_TRUE(says(no_cpp, "is not the name of a C++ file")) << no_cpp.text;
  const Answer two =
      fairlead_command("jdf compile '" + example + "' '" + example + "' -o '" + path("a.cpp") + "'");
  EXPECT_NE(two.exit_code, 0);
  EXPECT_TRUE(says(two, "takes one file")) << two.text;
}

}  // namespace fairlead
