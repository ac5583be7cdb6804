// Values equal those of C: random expressions compared with the system's compiler, and undefined behaviour.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "front/jdf/read.hpp"

namespace fairlead::jdf::tests {
namespace {

using Kind = EvaluationError::Kind;

std::string random_expression(Random& random, int depth) {
  if (depth == 0 || random.once_in(6)) {
    constexpr const char* leaves[] = {"a",      "b",          "c",          "0",    "1",          "2",
                                      "7",      "-3",         "100",        "0x1F", "017",        "5u",
                                      "40000L", "2147483647", "4294967295", "3ul",  "0x80000000", "12LL"};
    return leaves[random.below(std::size(leaves))];
  }
  const auto inner = [&] { return random_expression(random, depth - 1); };
  constexpr const char* operators[] = {
      "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||"};
  switch (random.below(8)) {
    case 0:
      return fmt::format("{}({})", random.once_in(2) ? "-" : random.once_in(2) ? "!" : "~", inner());
    case 1:
      return fmt::format("({} ? {} : {})", inner(), inner(), inner());
    case 2:
      return fmt::format("({})", inner());
    default: {
      const char* const op = operators[random.below(std::size(operators))];
      // Often without parentheses, so that precedence matters.
      return random.once_in(3) ? fmt::format("({}) {} ({})", inner(), op, inner())
                               : fmt::format("{} {} {}", inner(), op, inner());
    }
  }
}

struct Evaluated {
  bool defined = false;
  Value value;
  Kind kind{};
};

Evaluated evaluated(const std::string& expression) {
  const ReadText it = read_text("a = 5\nb = -7\nc = 3\nx = " + expression + "\n");
  // Another test covers values that do not fit x, an int.
  const ExpressionId id = it.file.globals.at(3).value;
  std::vector<Value> slots(64);
  const Settings none(it.file);
  try {
    return {true, Evaluator(it.file, none).value(id, slots), {}};
  } catch (const EvaluationError& error) {
    return {false, {}, error.kind()};
  }
}

/// The output of the compiled program, one line per expression; empty without a compiler.
std::vector<std::string> by_the_compiler(const std::vector<std::string>& expressions) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) return {};
  std::string name = (std::filesystem::temp_directory_path() / "fairlead-jdf-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  std::string program =
      "#include <stdio.h>\nint main(void) {\n  volatile int va = 5, vb = -7, vc = 3; int a = va, b = vb, c = "
      "vc;\n  (void)a; (void)b; (void)c;\n";
  for (const std::string& it : expressions)
    program += fmt::format(
        "  {{ __auto_type x = ({0}); printf(\"%d %lld\\n\", (int)(sizeof(x) * 2 + ((__typeof__(x))-1 > 0)), "
        "(long long)x); }}\n",
        it);
  program += "  return 0;\n}\n";
  std::ofstream(folder / "it.c") << program;
  std::vector<std::string> out;
  const std::string source = (folder / "it.c").string(), binary = (folder / "it").string();
  if (std::system(fmt::format("cc -w -O0 -fwrapv -o '{}' '{}'", binary, source).c_str()) == 0) {
    FILE* const pipe = ::popen(fmt::format("'{}'", binary).c_str(), "r");
    char line[100];
    while (std::fgets(line, sizeof line, pipe) != nullptr)
      out.emplace_back(line, std::string_view(line).find('\n'));
    ::pclose(pipe);
  }
  std::filesystem::remove_all(folder);
  return out;
}

std::string as_printed(const Value& value) {
  return fmt::format(
      "{} {}", (value.is_64_bit() ? 16 : 8) + (value.is_unsigned() ? 1 : 0),
      value.type() == Value::Type::unsigned_ ? static_cast<std::int64_t>(value.bits()) : value.integer());
}

Kind kind_of(const std::string& expression) {
  const Evaluated it = evaluated(expression);
  EXPECT_FALSE(it.defined) << expression;
  return it.kind;
}

std::string value_of(const std::string& expression) { return evaluated(expression).value.text(); }

}  // namespace

// For expressions that C defines, the compiled program must print the same type and number. Others are not
// compiled.
TEST(JdfValues, EqualThoseOfTheCompiler) {
  Random random(20);
  std::vector<std::string> expressions, expected;
  std::size_t undefined = 0;
  while (expressions.size() < 600) {
    const std::string expression = random_expression(random, 4);
    const Evaluated it = evaluated(expression);
    if (!it.defined) {
      ++undefined;
      continue;
    }
    expressions.push_back(expression);
    expected.push_back(as_printed(it.value));
  }
  EXPECT_GT(undefined, 50U);
  const std::vector<std::string> printed = by_the_compiler(expressions);
  if (printed.empty()) GTEST_SKIP() << "no C compiler";
  ASSERT_EQ(printed.size(), expressions.size());
  for (std::size_t i = 0; i < printed.size(); ++i) EXPECT_EQ(expected[i], printed[i]) << expressions[i];
}

TEST(JdfValues, UndefinedBehaviourIsReported) {
  EXPECT_EQ(kind_of("a / (c - 3)"), Kind::division_by_zero);
  EXPECT_EQ(kind_of("a % 0"), Kind::division_by_zero);
  EXPECT_EQ(kind_of("a / 0u"), Kind::division_by_zero);
  EXPECT_EQ(kind_of("2147483647 + 1"), Kind::overflow);
  EXPECT_EQ(kind_of("(-2147483647 - 1) / -1"), Kind::overflow);
  EXPECT_EQ(kind_of("(-2147483647 - 1) % -1"), Kind::overflow);
  EXPECT_EQ(kind_of("-(-2147483647 - 1)"), Kind::overflow);
  EXPECT_EQ(kind_of("65536 * 65536"), Kind::overflow);
  EXPECT_EQ(kind_of("9223372036854775807 + 1"), Kind::overflow);
  EXPECT_EQ(kind_of("1 << 31"), Kind::overflow);
  EXPECT_EQ(kind_of("1 << 32"), Kind::invalid_shift);
  EXPECT_EQ(kind_of("1 >> -1"), Kind::invalid_shift);
  EXPECT_EQ(kind_of("1.5 % 2"), Kind::invalid_operands);
  EXPECT_EQ(kind_of("~1.5"), Kind::invalid_operands);
}

TEST(JdfValues, ShortCircuitsSkipTheOtherOperand) {
  EXPECT_EQ(value_of("0 && 1/0"), "0");
  EXPECT_EQ(value_of("1 || 1/0"), "1");
  EXPECT_EQ(value_of("1 ? 2 : 1/0"), "2");
  EXPECT_EQ(value_of("0 ? f(1) : 3"), "3");
}

TEST(JdfValues, RealNumbers) {
  EXPECT_EQ(value_of("1.5 + 1"), "2.5");
  EXPECT_EQ(value_of("1e3f / 8"), "125");
  EXPECT_EQ(value_of("0x1p4 * .5"), "8");
  EXPECT_EQ(value_of("1 ? 1 : 2.0"), "1");
  EXPECT_EQ(value_of("(1 ? 1 : 2.0) / 2"), "0.5");
}

TEST(JdfValues, InlineCExpressionsAreEvaluated) {
  EXPECT_EQ(value_of("%{ return a + 1; %}"), "6");
  EXPECT_EQ(value_of("%{ int n = a * 2; const int m = n + 1, l = m; return l < 3 ? l : n; %}"), "10");
  EXPECT_EQ(value_of("%{ if (a == 5) return 1; else return 2; %}"), "1");
  EXPECT_EQ(value_of("%{ if (a > 5) { return 1; } if (b < 0) return 2; return 3; /* c */ %}"), "2");
  EXPECT_EQ(kind_of("%{ return f(a); %}"), Kind::needs_c);
  EXPECT_EQ(kind_of("%{ return (int)a; %}"), Kind::needs_c);
  EXPECT_EQ(kind_of("%{ return MACRO; %}"), Kind::needs_c);
  EXPECT_EQ(kind_of("%{ while (1); return 1; %}"), Kind::needs_c);
  EXPECT_EQ(kind_of("f(a)"), Kind::needs_c);
  EXPECT_EQ(value_of("%{ return dplasma_imin(a, c) - parsec_imax(b, 2); %}"), "1");
}

// Many locals exist only for bodies.
TEST(JdfValues, LocalsInCAreErrorsOnlyIfUsed) {
  const std::string text =
      "T(k)\nk = 0 .. 3\nplace = %{ return LOC(k); %}\n: A(place)\nRW X <- A(k)\n -> A(k)\nBODY\nEND\n";
  EXPECT_EQ(unrolled_text(text, {}).tasks.size(), 4U);
  std::string needed = text;
  needed.replace(needed.find("<- A(k)"), 7, "<- A(place)");
  try {
    unrolled_text(needed, {});
    FAIL();
  } catch (const EvaluationError& error) {
    EXPECT_EQ(error.kind(), Kind::needs_c);
    EXPECT_NE(
        std::string_view(error.what()).find("it.jdf:5:11: error: the value of place is known only in C here"),
        std::string_view::npos);
  }
}

// The values of C names may be given.
TEST(JdfValues, CNamesCanBeSet) {
  const ReadText it = read_text(
      "uplo = 121\nT(k)\nk = 0 .. %{ return uplo == Lower ? 3 : 1; %}\n: A(k)\nRW X <- A(k)\nBODY\nEND\n");
  EXPECT_EQ(unroll(it.file, settings_of(it.file, {"Lower=121"})).graph.tasks.size(), 4U);
  EXPECT_EQ(unroll(it.file, settings_of(it.file, {"Lower=122"})).graph.tasks.size(), 2U);
  EXPECT_THROW(unroll(it.file, Settings(it.file)), EvaluationError);
}

TEST(JdfValues, ErrorsStateTheirPosition) {
  const ReadText it = read_text("N [type = int]\nT(k)\nk = 0 .. 5 / N\n: A(k)\nRW X <- A(k)\nBODY\nEND\n");
  try {
    unroll(it.file, settings_of(it.file, {"N=0"}));
    FAIL();
  } catch (const EvaluationError& error) {
    EXPECT_STREQ(error.what(),
                 "it.jdf:3:12: error: a division by zero\n    3 | k = 0 .. 5 / N\n      |            ^");
  }
  try {
    unroll(it.file, Settings(it.file));
    FAIL();
  } catch (const EvaluationError& error) {
    EXPECT_EQ(error.kind(), Kind::no_value);
    EXPECT_NE(std::string_view(error.what()).find("N has no value: give --set N=..."),
              std::string_view::npos);
  }
}

TEST(JdfValues, MatricesHaveTheirMembers) {
  const ReadText it = read_text(
      "A [type = \"m*\"]\nx = A->mt\nT(k)\nk = 0 .. 0\nl = A->mt*1000000 + A->nt*10000 + A->super.mb*100 + "
      "A->nb\n"
      "o = A->lmt - A->mt + A->lnt - A->nt + A->lm - A->m + A->ln - A->n + A->i + A->j\np = A->bsiz\n: A(0)\n"
      "RW X <- A(l + o + p)\nBODY\nEND\n");
  ASSERT_EQ(it.messages, "");
  const auto graph = unroll(it.file, settings_of(it.file, {}, {"A=21,13,4,5"})).graph;
  EXPECT_EQ(unrolled::label(graph, graph.inputs.at(0)), "A(6030425)");  // 6 x 3 tiles of 4 x 5, and 20
  // A set value takes precedence; a missing one is reported.
  EXPECT_EQ(unroll(it.file, settings_of(it.file, {"A->bsiz=5"}, {"A=21,13,4,5"})).graph.numbers.back(),
            6030410);
  EXPECT_THROW(unroll(it.file, Settings(it.file)), EvaluationError);
}

TEST(JdfValues, InvalidSettingsAreRefused) {
  const ReadText it = read_text(
      "NT [type = int]\nA [type = \"m*\"]\nT(k)\nk = 0 .. NT - A->mt\n: A(k)\nRW X <- A(k)\nBODY\nEND\n");
  Settings settings(it.file);
  const auto error_of = [&](const auto& set) -> std::string {
    try {
      set();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(error_of([&] { settings.set("Nt=3"); }), "--set Nt=3: it.jdf has no Nt (did you mean NT?)");
  EXPECT_EQ(error_of([&] { settings.set("A->nt=3"); }),
            "--set A->nt=3: it.jdf has no A->nt (did you mean A->mt?)");
  EXPECT_EQ(error_of([&] { settings.set("NT"); }), "--set NT: write NAME=VALUE, as in NT=6 or 'descA->mt=6'");
  EXPECT_EQ(error_of([&] { settings.set("NT=six"); }), "--set NT=six: \"six\" is not a number");
  EXPECT_EQ(error_of([&] { settings.set("NT=6 6"); }), "--set NT=6 6: \"6 6\" is not a number");
  EXPECT_NE(error_of([&] { settings.set("NT=1/0"); }).find("a division by zero"), std::string::npos);
  EXPECT_EQ(error_of([&] { settings.set("NT=2*3"); }), "nothing");
  EXPECT_EQ(error_of([&] { settings.set("A->mt = 3"); }), "nothing");
  for (const char* wrong :
       {"A", "A=1", "A=1,2,3", "A=1,2,3,0", "A=1,2,3,4,5", "A=1,2,3,x", "=1,2,3,4", "A=-1,2,3,4", "A=1,,3,4"})
    EXPECT_NE(error_of([&] { settings.describe(wrong); }).find("write NAME=M,N,MB,NB"), std::string::npos)
        << wrong;
  EXPECT_EQ(error_of([&] { settings.describe("B=1,2,3,4"); }), "--matrix B=1,2,3,4: it.jdf has no B");
}

}  // namespace fairlead::jdf::tests
