// fairlead jdf: what it prints and returns for files, folders, and mistakes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "command/answer.hpp"

namespace fairlead {
namespace {

const std::filesystem::path jdf_root =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
const std::string jdf_examples = (jdf_root / "examples" / "jdf").string();
const std::string jdf_wrong = (jdf_root / "tests" / "front" / "jdf" / "wrong").string();

bool contains(const Answer& answer, std::string_view what) {
  return answer.text.find(what) != std::string::npos;
}

/// A file for one of these tests, in a folder that the first test creates.
std::filesystem::path file_of_jdf_test(const std::string& name) {
  std::filesystem::create_directories(FAIRLEAD_TEST_CACHE);
  return std::filesystem::path(FAIRLEAD_TEST_CACHE) / name;
}

}  // namespace

TEST(JdfCommand, ChecksAFolder) {
  const Answer answer = fairlead_command("jdf check '" + jdf_examples + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(
      contains(answer, "cholesky.jdf: 4 task classes, 3 globals; --set or --matrix checks every edge\n"))
      << answer.text;
  EXPECT_TRUE(contains(answer, "7 of 7 files are valid\n")) << answer.text;
}

TEST(JdfCommand, ChecksEveryEdge) {
  const Answer answer = fairlead_command("jdf check '" + jdf_examples + "/cholesky.jdf' --set 'descA->mt=6'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer, "cholesky.jdf: 56 tasks, 105 edges, no errors\n")) << answer.text;
  const Answer both =
      fairlead_command("jdf check '" + jdf_examples + "/pingpong.jdf' --set NT=5 --set rowRANK=1");
  EXPECT_TRUE(contains(both, "pingpong.jdf: 11 tasks, 10 edges, no errors\n")) << both.text;
}

TEST(JdfCommand, ReportsReadsFromAnotherRank) {
  const Answer sound =
      fairlead_command("jdf check '" + jdf_examples + "/cholesky.jdf' --set 'descA->mt=6' --grid 2x3");
  EXPECT_EQ(sound.exit_code, 0);
  EXPECT_TRUE(contains(sound, "cholesky.jdf: 56 tasks, 105 edges, no errors\n")) << sound.text;
  const auto file = file_of_jdf_test("shift.jdf");
  std::ofstream(file) << R"(
descA [ type = "tiled_matrix *" ]
SHIFT(i)
i = 0 .. descA->mt-2
: descA(i, 1)
READ A <- descA(i+1, 0)
RW   B <- descA(i, 1)
       -> descA(i, 1)
BODY
    tile_dlacpy('A', descA->mb, descA->nb, A, descA->mb, B, descA->mb);
END
)";
  const std::string command = "jdf check '" + file.string() + "' --matrix descA=40,20,10,10 --grid ";
  const Answer wrong = fairlead_command(command + "2x1 --most 1");
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_TRUE(contains(
      wrong, "error: data read from another rank: 3\n  " + file.string() +
                 ":6:11: descA(1,0) is rank 1's, and is taken as A of SHIFT(0), which runs on rank 0, at "
                 "descA(0,1): let a task there forward it\n  and 2 more\n"))
      << wrong.text;
  EXPECT_EQ(fairlead_command(command + "1x1").exit_code, 0);
  EXPECT_TRUE(
      contains(fairlead_command(command + "2"), "--grid 2: give rows and columns of ranks, such as 2x3"));
  EXPECT_TRUE(contains(fairlead_command("jdf check '" + jdf_examples + "/cholesky.jdf' --grid 2x2"),
                       "give --set or --matrix"));
}

TEST(JdfCommand, PrintsErrorsWithTheirPlace) {
  const Answer answer =
      fairlead_command("jdf check '" + jdf_wrong + "/unknown_name.jdf' '" + jdf_examples + "/gemm.jdf'");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_TRUE(
      contains(answer,
               "unknown_name.jdf:3:10: error: there is no \"TN\" (did you mean NT?)\n    3 | k = 0 .. "
               "TN-1\n      |          ^~\n"))
      << answer.text;
  EXPECT_TRUE(contains(answer, "1 of 2 files are valid\n")) << answer.text;
}

TEST(JdfCommand, NamesMissingSizes) {
  const Answer answer =
      fairlead_command("jdf check '" + jdf_examples + "/gemm.jdf' --matrix descA=300,300,100,100");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_TRUE(
      contains(answer, "descC->mt has no value: give --matrix descC=M,N,MB,NB or --set 'descC->mt=...'"))
      << answer.text;
  const Answer wrong =
      fairlead_command("jdf check '" + jdf_examples + "/gemm.jdf' --matrix descD=300,300,100,100");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong, "gemm.jdf has no descD (did you mean descA?)")) << wrong.text;
}

TEST(JdfCommand, Draws) {
  const auto file = file_of_jdf_test("graph.svg");
  std::filesystem::create_directories(file.parent_path());
  const Answer answer = fairlead_command("jdf draw '" + jdf_examples +
                                         "/cholesky.jdf' --set 'descA->mt=4' -o '" + file.string() + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  std::ostringstream picture;
  picture << std::ifstream(file).rdbuf();
  EXPECT_NE(picture.str().find(">GEMM(3,2,0)<"), std::string::npos);
  EXPECT_EQ(fairlead_command("jdf draw '" + jdf_examples + "/cholesky.jdf' --set 'descA->mt=4'").exit_code,
            2);
}

TEST(JdfCommand, DoesNotWriteOverTheGraph) {
  const auto graph = file_of_jdf_test("own.jdf"), link = file_of_jdf_test("own.cpp"),
             header = file_of_jdf_test("own.hpp");
  std::filesystem::create_directories(graph.parent_path());
  std::filesystem::copy_file(jdf_examples + "/cholesky.jdf", graph,
                             std::filesystem::copy_options::overwrite_existing);
  const auto size = std::filesystem::file_size(graph);
  for (const auto& name : {link, header}) {
    std::filesystem::remove(name);
    std::filesystem::create_symlink(graph, name);
  }
  const std::string of = " '" + graph.string() + "' -o '";
  for (const std::string& arguments : {"jdf draw --set 'descA->mt=4'" + of + graph.string() + "'",
                                       "jdf draw --set 'descA->mt=4'" + of + link.string() + "'",
                                       "jdf compile" + of + link.string() + "'"}) {
    const Answer answer = fairlead_command(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_TRUE(contains(answer, "it would be lost")) << answer.text;
  }
  std::filesystem::remove(link);
  EXPECT_TRUE(contains(fairlead_command("jdf compile" + of + link.string() + "'"), "the header"))
      << "own.hpp";
  EXPECT_EQ(std::filesystem::file_size(graph), size);
  EXPECT_FALSE(std::filesystem::exists(link));
}

TEST(JdfCommand, RefusesUnknownActionsOptionsAndFiles) {
  EXPECT_TRUE(contains(fairlead_command("jdf chek x.jdf"),
                       "fairlead jdf has no action \"chek\" (did you mean check?)"));
  EXPECT_TRUE(contains(fairlead_command("jdf check x.jdf --sett NT=3"), "did you mean --set?"));
  EXPECT_TRUE(contains(fairlead_command("jdf check"), "missing argument FILE"));
  const Answer missing = fairlead_command("jdf check nowhere.jdf");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing, "cannot read nowhere.jdf: No such file or directory")) << missing.text;
  EXPECT_EQ(fairlead_command("jdf check a.jdf --tile 3").exit_code, 2);
}

TEST(JdfCommand, IsSimulated) {
  const Answer answer =
      fairlead_command("simulate jdf '" + jdf_examples +
                       "/cholesky.jdf' --set 'descA->mt=6' --machine v100-pcie --precision single "
                       "--gpus 1 --scheduler darts,eager");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer, "cholesky.jdf, single: 56 tasks, 0.31 GB of data\n")) << answer.text;
  EXPECT_TRUE(contains(answer, "\ndarts ") && contains(answer, "\neager ")) << answer.text;
  const Answer missing = fairlead_command("simulate jdf '" + jdf_examples + "/lu.jdf'");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing, "descA->mt has no value")) << missing.text;
}

// Bodies in C do not run: their cost is that of the class's `flops`, or by the size of their data.
TEST(JdfCommand, SimulatesBodiesInC) {
  const auto file = file_of_jdf_test("c_bodies.jdf");
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << R"(
A [type = "tiled_matrix *"]
N [type = int]
my_zgemm(k) [flops = %{ return 1000000.0 * (k + 1); %}]
k = 0 .. N-1
: A(k, 0)
RW X <- A(k, 0)
     -> Y my_zherk(k)
BODY
  for (int i = 0; i < 10; ++i) do_something(X);
END
my_zherk(k)
k = 0 .. N-1
: A(k, 0)
RW Y <- X my_zgemm(k)
     -> A(k, 0)
BODY
  something_else(Y);
END
)";
  const Answer answer =
      fairlead_command("simulate jdf '" + file.string() + "' --set N=4 --tile 100 --scheduler eager");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer, "4 tasks of unknown cost count as 1 operation per byte of their data\n"))
      << answer.text;
  EXPECT_TRUE(contains(answer, "double: 8 tasks, 0.00032 GB of data\n")) << answer.text;
  const Answer run = fairlead_command("jdf run '" + file.string() + "' --matrix A=400,100,100,100 --set N=4");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run, "c_bodies.jdf:10:3: error: for(...) is not an interpreted function")) << run.text;
  EXPECT_TRUE(contains(run, "c_bodies.jdf:18:3: error: something_else(...) is not an interpreted function"))
      << run.text;
}

TEST(JdfCommand, RunsOnZeros) {
  const Answer answer =
      fairlead_command("jdf run '" + jdf_examples +
                       "/pingpong.jdf' --matrix A=64,1,64,64 --set NT=5 --set rowRANK=0 --workers 1");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer, "Computed")) << answer.text;
}

TEST(JdfCommand, PrintsItsHelp) {
  for (const char* of : {"jdf run", "simulate jdf"}) {
    const Answer of_two = fairlead_command(std::string(of) + " --help");
    EXPECT_EQ(of_two.exit_code, 0);
    EXPECT_TRUE(contains(of_two, "usage: fairlead " + std::string(of) + " FILE [options]")) << of_two.text;
    EXPECT_EQ(fairlead_command("help " + std::string(of)).text, of_two.text);
  }
  const Answer answer = fairlead_command("jdf --help-all");
  EXPECT_EQ(answer.exit_code, 0);
  for (const char* what :
       {"usage: fairlead jdf ACTION FILE... [options]", "--set NAME=VALUE", "--matrix NAME=M,N,MB,NB",
        "fairlead jdf check cholesky.jdf --set NT=6", "Exit status:"})
    EXPECT_TRUE(contains(answer, what)) << answer.text;
}

}  // namespace fairlead
