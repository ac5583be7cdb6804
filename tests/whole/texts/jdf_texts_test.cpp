// JDF files with mutations: each is read or refused; graphs that are read are unrolled for small values, checked and drawn.
#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "front/jdf/evaluate.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf/unroll.hpp"
#include "front/unrolled/check.hpp"
#include "report/graph/graph_picture.hpp"
#include "sanitized.hpp"
#include "whole/texts/cases.hpp"
#include "whole/texts/mutations.hpp"

namespace fairlead::tests {
namespace {

constexpr std::uint64_t jdf_cases = tests::sanitized ? 500 : 2'000;
const jdf::UnrollOptions small{.tasks = 3'000, .ends = 20'000, .steps = 200'000};

std::vector<std::string> jdf_files() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"examples/jdf", "tests/front/jdf/wrong"})
    for (const auto& entry : std::filesystem::directory_iterator(root / folder))
      if (entry.path().extension() == ".jdf") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> out{
      "%option x = 1\nN [type = int]\nS(a)\na = [ i = 0 .. 2 ] 2*i\nb = %{ int q = a; return q + N; "
      "%}\nSIMCOST 3\n: A(a, b)\n"
      "READ X <- A(a, b) [type = LOWER displ = 8]\n -> [ i = 0 .. 1, j = 0 .. i ] i < 2 ? X T(i, j) : X T(0, "
      "0)\n"
      "CTL C <- C T(0 .. 1, 0)\n; a * 3 - 1\nBODY [type = CUDA\n weight = (a+1)]\n{ }\nEND\nBODY\nEND\n"
      "T(a, b)\na = 0 .. 1\nb = 0 .. a .. 1\n: A(a, b)\nREAD X <- X S(0)\nCTL C -> b == 0 ? C "
      "S(0)\nBODY\nEND\n"};
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    out.push_back(text.str());
  }
  // Those that are right are drawn as often as those that are wrong from the beginning.
  const std::size_t right = 5;
  for (int times = 0; times < 8; ++times)
    for (std::size_t i = 0; i < right; ++i) out.push_back(out[i]);
  return out;
}

/// Every global and member has a small value, so that as much as possible is written out.
void use(const jdf::JdfFile& file) {
  jdf::Settings settings(file);
  int value = 0;
  for (const jdf::Global& global : file.globals)
    if (global.value == jdf::no_expression)
      settings.set(global.name.text + "=" + std::to_string(++value % 5));
  for (const jdf::Member& member : file.members)
    settings.set(member.text + "=" + std::to_string(2 + ++value % 3));
  const jdf::UnrolledGraph unrolled = jdf::unroll(file, settings, small);
  const unrolled::CheckResult checked = unrolled::check(unrolled.graph);
  const std::string picture = report::graph_picture(unrolled.graph, 200);
  EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
  EXPECT_EQ(checked.findings.text().empty(), checked.findings.errors() + checked.findings.warnings() == 0 &&
                                                 checked.findings.count_of(unrolled::Kind::not_checked) == 0);
}

}  // namespace

TEST(Texts, OfJdf) {
  const std::vector<std::string> files = jdf_files();
  ASSERT_GT(files.size(), 40U);
  const std::vector<std::string> words{"RW",
                                       "READ",
                                       "WRITE",
                                       "CTL",
                                       "NEW",
                                       "NULL",
                                       "BODY",
                                       "END",
                                       "SIMCOST",
                                       "extern",
                                       "<-",
                                       "->",
                                       "..",
                                       "%{",
                                       "%}",
                                       "%{ return k; %}",
                                       "[ i = 0 .. 3 ]",
                                       "(",
                                       ")",
                                       "?",
                                       ":",
                                       ";",
                                       "&&",
                                       "k",
                                       "descA->mt",
                                       "T(k)\n",
                                       "\nBODY\n",
                                       "\nEND\n",
                                       "extern \"C\" %{",
                                       "//",
                                       "/*",
                                       "*/",
                                       "\"",
                                       "[type = ",
                                       "%option "};
  run_cases("JDF", jdf_cases,
            {[&](Random& random) { return mutated(files, words, random); },
             [](const std::string& text) {
               jdf::Diagnostics diagnostics;
               const jdf::JdfFile file = jdf::read(jdf::SourceFile("fuzzed.jdf", text), diagnostics);
               const std::string shown = jdf::shown(diagnostics, file.source);
               if (diagnostics.errors() != 0) throw InputError(shown);
               use(file);
             }});
}

}  // namespace fairlead::tests
