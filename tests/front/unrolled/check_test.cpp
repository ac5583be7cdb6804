// The checks of graphs: each kind of mistake is planted and found, with its place and message; sound graphs
// have no findings.
#include <gtest/gtest.h>

#include <string>

#include "front/jdf/read.hpp"
#include "sanitized.hpp"

namespace fairlead::unrolled::tests {
namespace {

using jdf::tests::examples_folder;
using jdf::tests::text_of;
using jdf::tests::unrolled_text;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string cholesky() { return text_of(examples_folder() / "cholesky.jdf"); }

CheckResult checked_cholesky(const std::string& what, const std::string& by) {
  return check(unrolled_text(replaced(cholesky(), what, by), {}, {"descA=400,400,100,100"}));
}

CheckResult checked(const std::string& text) { return check(unrolled_text(text, {})); }

/// Pairs read values of TRSM and POTRF, triples of two TRSM; all but those of the first step have a
/// predecessor.
std::size_t cholesky_edges(std::size_t tiles) {
  const auto pairs = [](std::size_t n) { return n * (n - 1) / 2; };
  const auto threes = [](std::size_t n) { return n * (n - 1) * (n - 2) / 6; };
  return (tiles - 1) + 2 * pairs(tiles) + 2 * pairs(tiles - 1) + 2 * threes(tiles) + threes(tiles - 1);
}

std::string all(const Findings& findings, Kind kind) {
  std::string out;
  for (const std::string& text : findings.texts(kind)) out += text + "\n";
  return out;
}

/// The only findings are `count` of this kind, and the first text contains `words`.
void expect_only(const CheckResult& it, Kind kind, std::size_t count, const std::string& words) {
  EXPECT_EQ(it.findings.count_of(kind), count) << it.findings.text();
  EXPECT_EQ(it.findings.errors() + it.findings.warnings(), count) << it.findings.text();
  EXPECT_NE(all(it.findings, kind).find(words), std::string::npos) << it.findings.text();
}

/// A class of one task with these flows, whose body does something: without it, RW would only pass values on.
std::string task(const std::string& name, const std::string& flows) {
  return name + "(z)\nz = 0 .. 0\n: A(0)\n" + flows + "\nBODY\n  compute();\nEND\n";
}

}  // namespace

TEST(GraphCheck, SoundGraphsAreLeftAlone) {
  const CheckResult it = check(unrolled_text(cholesky(), {}, {"descA=700,700,100,100"}));
  EXPECT_EQ(it.findings.text(), "");
  EXPECT_EQ(it.edges, cholesky_edges(7));
}

TEST(GraphCheck, AnEdgeThatTheProducerDoesNotState) {
  expect_only(
      checked_cholesky("       -> A SYRK(k, m)\n", "       -> (m < 3) ? A SYRK(k, m)\n"), Kind::one_sided, 3,
      "it.jdf:65:11: A of SYRK(0,3) takes C of TRSM(3,0), which does not send it there: see the outputs of C "
      "(it.jdf:42:6)");
}

TEST(GraphCheck, AnEdgeThatTheConsumerDoesNotState) {
  const CheckResult it =
      checked_cholesky("READ B <- C TRSM(n, k)", "READ B <- (m == 3) ? C TRSM(n, k) : descA(n, k)");
  expect_only(it, Kind::one_sided, 1, "B of GEMM(2,1,0), which takes descA(1,0) instead (it.jdf:");
}

TEST(GraphCheck, ARangeThatIsTooShort) {
  expect_only(checked_cholesky("T TRSM(k+1 .. descA->mt-1, k)", "T TRSM(k+1 .. descA->mt-2, k)"),
              Kind::one_sided, 3, "T of TRSM(3,0) takes T of POTRF(0), which does not send it there");
}

TEST(GraphCheck, ARangeThatIsTooLong) {
  const CheckResult it = checked_cholesky("T TRSM(k+1 .. descA->mt-1, k)", "T TRSM(k+1 .. descA->mt, k)");
  expect_only(it, Kind::dead_end, 4,
              "T of POTRF(0) goes to T of TRSM(4,0), but there is no TRSM(4,0): it goes nowhere");
  EXPECT_EQ(it.findings.errors(), 0U);
}

TEST(GraphCheck, AnInputFromAMissingTask) {
  expect_only(checked_cholesky("k = 0 .. descA->mt-1\n", "k = 0 .. descA->mt-2\n"), Kind::dead_end, 1,
              "POTRF(3)");
  const CheckResult it = checked_cholesky("READ T <- T POTRF(k)", "READ T <- T POTRF(k + 4 * (m == 3))");
  EXPECT_EQ(it.findings.count_of(Kind::missing_producer), 3U);
  EXPECT_NE(it.findings.text().find("T of TRSM(3,0) takes T of POTRF(4), but there is no POTRF(4)"),
            std::string::npos);
}

TEST(GraphCheck, AFlowWithoutAnInput) {
  expect_only(checked(task("S", "RW X <- (z == 1) ? A(0)\n -> A(0)")), Kind::no_input, 1,
              "it.jdf:4:4: X of S(0) has no input: none of its guards holds");
}

// DPLASMA's zhbrdt has such inputs: the first one applies.
TEST(GraphCheck, AShadowedInput) {
  const auto it = checked(task("S", "RW X <- (z == 0) ? A(0)\n <- (z < 1) ? A(1)\n -> A(0)"));
  expect_only(it, Kind::shadowed_input, 1,
              "it.jdf:5:15: X of S(0) would take A(1), but takes A(0) (it.jdf:4:20)");
  EXPECT_EQ(it.findings.errors(), 0U);
}

TEST(GraphCheck, AnOutputThatIsSentTwice) {
  expect_only(
      checked(task("S", "RW X <- A(0)\n -> X T(0)\n -> X T(0 .. 0)") + task("T", "RW X <- X S(0)\n -> A(0)")),
      Kind::duplicate_output, 1, "X of S(0) goes to X of T(0) a second time (the first: it.jdf:5:5)");
}

TEST(GraphCheck, ACycle) {
  expect_only(checked(task("S", "RW X <- X U(0)\n -> X T(0)") + task("T", "RW X <- X S(0)\n -> X U(0)") +
                      task("U", "RW X <- X T(0)\n -> X S(0)")),
              Kind::cycle, 1, "S(0) -> T(0) -> U(0) -> S(0) (3 tasks)");
  expect_only(
      checked(
          "T(k)\nk = 0 .. 9\n: A(k)\nCTL C <- (k > 0) ? C T(k-1) : C T(9)\n -> (k < 9) ? C T(k+1) : C T(0)\n"
          "CTL D <- k == 4 ? D T(5)\n -> k == 5 ? D T(4)\nBODY\nEND\n"),
      Kind::cycle, 1, "T(4) -> T(5) -> T(4) (2 tasks)");  // the shortest
  expect_only(checked(task("S", "CTL X <- X S(0)\n -> X S(0)")), Kind::cycle, 1,
              "S(0) -> S(0) (a task before itself)");
}

// W changes the value that R reads, so it waits for R; R waits for W by the control.
TEST(GraphCheck, ACycleThroughAValueThatIsOverwritten) {
  expect_only(checked(task("S", "RW X <- A(0)\n -> X W(0)\n -> X R(0)") +
                      task("W", "RW X <- X S(0)\n -> A(0)\nCTL C -> C R(0)") +
                      task("R", "READ X <- X S(0)\nCTL C <- C W(0)")),
              Kind::cycle, 1, "(reads what is overwritten by)");
}

TEST(GraphCheck, AReaderPrecedesAWriterOfTheSameValue) {
  const CheckResult it = checked(task("S", "RW X <- A(0)\n -> X W(0)\n -> X R(0)") +
                                 task("W", "RW X <- X S(0)\n -> A(0)") + task("R", "READ X <- X S(0)"));
  EXPECT_EQ(it.findings.text(), "");
  EXPECT_EQ(it.overwriting, 1U);
}

// A read-only flow forwards the value: the writer also waits for later readers.
TEST(GraphCheck, ReadersPassTheValueOn) {
  const std::string reader = task("R", "READ X <- X S(0)\n -> X Q(0)");
  const std::string sound =
      task("S", "RW X <- A(0)\n -> X W(0)\n -> X R(0)") + task("W", "RW X <- X S(0)\n -> A(0)") + reader;
  const CheckResult it = checked(sound + task("Q", "READ X <- X R(0)"));
  EXPECT_EQ(it.findings.text(), "");
  EXPECT_EQ(it.overwriting, 2U);
  expect_only(checked(sound + task("Q", "RW X <- X R(0)\n -> A(1)")), Kind::two_writers, 1,
              "X of S(0) is changed by");
}

TEST(GraphCheck, TwoWritersOfOneValue) {
  expect_only(checked(task("S", "RW X <- A(0)\n -> X T(0)\n -> X U(0)") +
                      task("T", "RW X <- X S(0)\n -> A(0)") + task("U", "RW X <- X S(0)\n -> A(1)")),
              Kind::two_writers, 1,
              "X of S(0) is changed by X of T(0) (it.jdf:13:9) and by X of U(0) (it.jdf:21:9)");
}

TEST(GraphCheck, TwoWritersOfAValueInMemory) {
  expect_only(checked(task("T", "RW X <- A(7)\n -> A(0)") + task("U", "RW X <- A(7)\n -> A(1)")),
              Kind::two_writers, 1,
              "what is in A(7) is changed by X of T(0) (it.jdf:4:9) and by X of U(0) (it.jdf:12:9)");
}

TEST(GraphCheck, OneTaskThatReadsAValueItChanges) {
  expect_only(checked(task("S", "RW X <- A(0)\n -> A(0)\nREAD Y <- A(0)")), Kind::reads_own_overwrite, 1,
              "Y of S(0) (it.jdf:6:11) is also X of S(0) (it.jdf:4:9)");
  expect_only(checked(task("S", "RW X <- A(0)\n -> X T(0)\n -> Y T(0)") +
                      task("T", "RW X <- X S(0)\n -> A(0)\nREAD Y <- X S(0)")),
              Kind::reads_own_overwrite, 1, "Y of T(0)");
}

TEST(GraphCheck, TwoUnorderedWritersOfAPlace) {
  const std::string two =
      task("T", "WRITE X -> A(3)\nCTL C -> C U(0)") + task("U", "WRITE X -> A(3)\nCTL C <- C T(0)");
  EXPECT_EQ(checked(two).findings.text(), "");  // the control orders them
  expect_only(checked(task("T", "WRITE X -> A(3)") + task("U", "WRITE X -> A(3)")), Kind::unordered_writes, 1,
              "A(3) is written by X of T(0) (it.jdf:4:12) and by X of U(0) (it.jdf:11:12)");
  // Two triangles of one tile are two things.
  EXPECT_EQ(checked(task("T", "WRITE X -> A(3) [type = LOWER]") + task("U", "WRITE X -> A(3) [type = UPPER]"))
                .findings.text(),
            "");
}

TEST(GraphCheck, ARace) {
  expect_only(checked(task("T", "WRITE X -> A(3)") + task("U", "READ X <- A(3)")), Kind::race, 1,
              "A(3) is read by X of U(0) (it.jdf:11:11) and written by X of T(0) (it.jdf:4:12)");
  EXPECT_EQ(
      checked(task("T", "WRITE X -> A(3)\nCTL C -> C U(0)") + task("U", "READ X <- A(3)\nCTL C <- C T(0)"))
          .findings.text(),
      "");
}

// The writer of a datum waits for earlier readers; later readers get the value that was written back.
TEST(GraphCheck, ReadersOfMemoryComeBeforeOrAfter) {
  const std::string change = "RW X <- A(0)\n -> A(0)";
  const CheckResult before = checked(task("T", change) + task("U", "READ X <- A(0)"));
  EXPECT_EQ(before.findings.text(), "");
  EXPECT_EQ(before.overwriting, 1U);
  const CheckResult after =
      checked(task("T", change + "\nCTL C -> C U(0)") + task("U", "READ X <- A(0)\nCTL C <- C T(0)"));
  EXPECT_EQ(after.findings.text(), "");
  EXPECT_EQ(after.overwriting, 0U);
  // Two that change it one after the other.
  EXPECT_EQ(checked(task("T", change + "\nCTL C -> C U(0)") + task("U", change + "\nCTL C <- C T(0)"))
                .findings.text(),
            "");
}

TEST(GraphCheck, ANullThatIsPassedOn) {
  expect_only(checked(task("S", "READ X <- NULL\n -> X T(0)") + task("T", "READ X <- X S(0)")),
              Kind::missing_producer, 1, "X of T(0) takes X of S(0), which has none itself");
}

// As in PaRSEC: a NULL value cannot be forwarded, even by a flow that may be written.
TEST(GraphCheck, ANullThatIsPassedOnToBeWritten) {
  const CheckResult it = checked(
      "T(k)\nk = 0 .. 3\n: A(k)\nRW X <- (k == 0) ? NULL : X T(k-1)\n -> (k < 3) ? X T(k+1)\nBODY\nEND\n");
  expect_only(it, Kind::missing_producer, 1, "X of T(1) takes X of T(0), which has none itself");
}

// The two triangles of a tile have different destinations, as in QR.
TEST(GraphCheck, PartsOfAValueHaveTheirOwnWriters) {
  const std::string s = task("S", "RW X <- A(0)\n -> X L(0) [type = LOWER]\n -> X U(0) [type = UPPER]");
  EXPECT_EQ(checked(s + task("L", "RW X <- X S(0) [type = LOWER]\n -> A(0) [type = LOWER]") +
                    task("U", "RW X <- X S(0) [type = UPPER]\n -> A(0) [type = UPPER]"))
                .findings.text(),
            "");
}

TEST(GraphCheck, DuplicateTasks) {
  const CheckResult it = checked("T(k)\nk = 0 .. 1\nl = 0 .. 1\n: A(k)\nCTL C\nBODY\nEND\n");
  EXPECT_EQ(it.findings.count_of(Kind::duplicate_task), 2U);
}

TEST(GraphCheck, AnEmptyGraph) {
  expect_only(checked("T(k)\nk = 1 .. 0\n: A(k)\nCTL C\nBODY\nEND\n"), Kind::no_task, 1,
              "all ranges are empty");
}

TEST(GraphCheck, ReportsTheFirstFindingsAndCountsTheRest) {
  const CheckResult it = check(
      unrolled_text("T(k)\nk = 0 .. 99\n: A(k)\nRW X <- X T(k+100)\n -> X T(k-100)\nBODY\nEND\n", {}), 3);
  EXPECT_EQ(it.findings.texts(Kind::missing_producer).size(), 3U);
  EXPECT_EQ(it.findings.count_of(Kind::missing_producer), 100U);
  EXPECT_NE(it.findings.text().find("error: inputs from tasks or values that do not exist: 100\n"),
            std::string::npos);
  EXPECT_NE(it.findings.text().find("  and 97 more\n"), std::string::npos);
}

TEST(GraphCheck, AHundredThousandTasks) {
  // An eighth of them where a sanitizer watches.
  const char* const matrix =
      ::fairlead::tests::sanitized ? "descA=4200,4200,100,100" : "descA=8400,8400,100,100";
  const CheckResult it = check(unrolled_text(cholesky(), {}, {matrix}));
  EXPECT_EQ(it.findings.text(), "");
  EXPECT_EQ(it.edges, cholesky_edges(::fairlead::tests::sanitized ? 42 : 84));
}

TEST(GraphCheck, LongChainsOfOnePlace) {
  const CheckResult it =
      check(unrolled_text("T(k)\nk = 0 .. 49999\n: A(0)\nRW X <- (k == 0) ? A(0) : X T(k-1)\n -> (k < 49999) "
                          "? X T(k+1)\n -> A(0)\n"
                          "READ Y <- A(k+1)\nBODY\nEND\n",
                          {}));
  EXPECT_EQ(it.findings.text(), "");
}

}  // namespace fairlead::unrolled::tests
