// Every construct of the language parses without a message, and the tree matches the text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "front/jdf/read.hpp"

namespace fairlead::jdf::tests {
namespace {

const TaskClass& only_class(const ReadText& it) { return it.file.classes.at(0); }
const Dependency& dependency_of(const ReadText& it, std::size_t number = 0) {
  return only_class(it).flows.at(0).dependencies.at(number);
}
std::string text_at(const ReadText& it, ExpressionId id) {
  return std::string(it.file.source.text(it.file.at(id).where));
}
std::string text_of_property(const ReadText& it, const std::vector<Property>& all, std::string_view name) {
  const Property* property = find(all, name);
  if (property == nullptr) return "(none)";
  return property->value == no_expression ? "(a word)" : text_at(it, property->value);
}

}  // namespace

TEST(JdfConstructs, CommentsOfBothStyles) {
  const ReadText it =
      read_text("/* one\n * more */ N [type = int] // to the end\nM [type /* inside */ = int]\n// last");
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(it.file.globals.size(), 2U);
}

TEST(JdfConstructs, PrologueAndEpilogue) {
  const ReadText it = read_text(
      "extern \"C\" %{\n#include <a.h>\nint f() { return 100 % 7; }\n%}\nN [type = int]\nextern \"C\" %{ int "
      "g; %}\n");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.external.size(), 2U);
  EXPECT_EQ(it.file.source.text(it.file.external[0]), "\n#include <a.h>\nint f() { return 100 % 7; }\n");
  EXPECT_EQ(it.file.source.text(it.file.external[1]), " int g; ");
}

TEST(JdfConstructs, CodeEndsAtTheFirstClosingMark) {
  const ReadText it = read_text("extern \"C\" %{ printf(\"100%%}\"); %}\nN [type = int]\n");
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(it.file.source.text(it.file.external.at(0)), " printf(\"100%%}\"); ");
}

TEST(JdfConstructs, Options) {
  const ReadText it =
      read_text("%option no_taskpool_instance = true\n%OPTION nb_local_tasks_fn = count_them\n");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.options.size(), 2U);
  EXPECT_EQ(it.file.options[1].name.text, "nb_local_tasks_fn");
}

// A name in a global's value that the file does not define belongs to C, such as an enumerator in the
// prologue.
TEST(JdfConstructs, CNamesInValuesOfGlobals) {
  const ReadText it = read_text(
      "upper [type = PLASMA_enum hidden = on default = PlasmaUpper]\n"
      "key [type = int hidden = on default = \"look_up(&infos, \\\"A::B\\\", NULL)\"]\nNT = LIMIT - 1\n");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.c_names.size(), 2U);
  EXPECT_EQ(it.file.c_names[0], "PlasmaUpper");
  EXPECT_EQ(it.file.c_names[1], "LIMIT");
  ASSERT_EQ(it.file.c_leaves.size(), 3U);
}

TEST(JdfConstructs, ClassesNamedAsTheEndOfBodies) {
  const ReadText it = read_text(
      "A [type = \"d*\"]\nT(k)\nk = 0 .. 3\n: A(k)\nCTL X -> X END(0)\nBODY\n{\n f(\"END(0)\");\n}\nEND\n\n"
      "END(k)\nk = 0 .. 0\n: A(k)\nCTL X <- X T(0 .. 3 .. 1)\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.classes.size(), 2U);
  EXPECT_EQ(it.file.classes[1].name.text, "END");
}

// Inline C that must be compiled lists the locals that it mentions, the innermost of a name.
TEST(JdfConstructs, CExpressionsListTheirLocals) {
  const ReadText it = read_text(
      "A [type = \"d*\"]\nNT [type = int]\nT(k)\nk = 0 .. %{ for (;;) return NT; %}\nm = %{ while (k) return "
      "k; %}\n"
      ": A(k)\nCTL X <- (k > f(m)) ? [ i = 0 .. g(k) ] X T(%{ do return i + m; while (0); %})\n      -> X "
      "T(0)\nBODY\nEND\n");
  ASSERT_EQ(it.file.c_leaves.size(), 5U) << it.messages;
  const auto names = [&](std::size_t leaf) {
    std::string out;
    for (const auto& [name, slot] : it.file.c_leaves[leaf].locals) out += name + " ";
    return out;
  };
  EXPECT_EQ(names(0), "");
  EXPECT_EQ(it.file.c_leaves[0].globals.size(), 1U);
  EXPECT_EQ(names(1), "k ");
  EXPECT_EQ(names(2), "m ");
  EXPECT_EQ(names(3), "k ");
  EXPECT_EQ(names(4), "i m ");
}

TEST(JdfConstructs, GlobalsWithAnyProperty) {
  const ReadText it = read_text(
      "A [type = \"tiled_matrix *\" aligned = B]\nB [type=\"const tiled_matrix *\"]\n"
      "P [type = \"pool *\" size = \"(sizeof(double)*NB)\" whatever = 3]\nNB = 2 * 3 [type = int]\n"
      "MB [type = int hidden = on default = \"NB + 1\"]\nX [type = int hidden = on default = "
      "-1]\nPLAIN\nLAST");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.globals.size(), 8U);
  EXPECT_EQ(it.file.globals[0].type, "tiled_matrix *");
  EXPECT_EQ(text_of_property(it, it.file.globals[0].properties, "aligned"), "B");
  EXPECT_EQ(text_of_property(it, it.file.globals[2].properties, "whatever"), "3");
  const Settings none(it.file);
  Evaluator evaluator(it.file, none);
  EXPECT_EQ(evaluator.global(3, {}).integer(), 6);
  EXPECT_EQ(evaluator.global(4, {}).integer(), 7);
  EXPECT_EQ(evaluator.global(5, {}).integer(), -1);
  EXPECT_TRUE(it.file.globals[4].hidden);
  EXPECT_FALSE(it.file.globals[3].hidden);
}

TEST(JdfConstructs, PropertiesOfATaskClass) {
  const ReadText it = read_text(
      "T(k) [profile = off high_priority = on flops = inline_c %{ return f(k); %}\n  time_estimate = %{ "
      "return 3; %}]\n"
      "k = 0 .. 1\n: A(k)\nRW X <- A(k)\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(only_class(it).properties.size(), 4U);
  EXPECT_EQ(text_of_property(it, only_class(it).properties, "profile"), "off");
  EXPECT_EQ(text_of_property(it, only_class(it).properties, "flops"), " return f(k); ");
}

TEST(JdfConstructs, RangesWithSteps) {
  const auto graph = unrolled_text(
      "N [type = int]\nT(k, m)\nk = 0 .. N .. 3\nm = 4 .. k .. -2\n: A(k)\nRW X <- A(k)\nBODY\nEND\n",
      {"N=7"});
  EXPECT_EQ(task_names(graph), (std::set<std::string>{"T(0,4)", "T(0,2)", "T(0,0)", "T(3,4)"}));
}

TEST(JdfConstructs, ParametersGivenByAnExpressionAndDerivedLocals) {
  const auto graph = unrolled_text(
      "N [type = int]\nT(k, m, p)\nbefore = N - 1\nk = before .. N\nm = k * 10\nafter = m + 1\np = after + "
      "before\n"
      ": A(p)\nRW X <- A(p)\nBODY\nEND\n",
      {"N=3"});
  EXPECT_EQ(task_names(graph), (std::set<std::string>{"T(2,20,23)", "T(3,30,33)"}));
}

TEST(JdfConstructs, LocalIndicesInASpace) {
  const auto graph =
      unrolled_text("T(odd)\nodd = [ i = 0 .. 3 ] 2*i+1\n: A(odd)\nRW X <- A(odd)\nBODY\nEND\n", {});
  EXPECT_EQ(task_names(graph), (std::set<std::string>{"T(1)", "T(3)", "T(5)", "T(7)"}));
}

TEST(JdfConstructs, LocalIndicesInDependencies) {
  const std::string text =
      "S(z)\nz = 0 .. 0\n: A(z)\nREAD A1 <- A(z)\n -> [ i = 0 .. 4 .. 2, j = 0 .. i ] i < 4 ? [ l = 1 .. 2 ] "
      "A T(i, j+l)\n"
      "CTL C -> z == 0 ? [ i = 7 .. 8 ] C U(i)\nBODY\nEND\n"
      "T(a, b)\na = 0 .. 9\nb = 0 .. 9\n: A(a)\nREAD A <- A1 S(0)\nBODY\nEND\n"
      "U(a)\na = 7 .. 8\n: A(a)\nCTL C <- C S(0)\nBODY\nEND\n";
  const ReadText it = read_text(text);
  EXPECT_EQ(it.errors, 0U) << it.messages;  // but A is a flow of T as well as a collection
  EXPECT_NE(it.messages.find("warning: the flow \"A\" has the name of a global"), std::string::npos)
      << it.messages;
  std::string sound = text;
  sound.replace(sound.find("READ A <- A1"), 6, "READ B");
  sound.replace(sound.find("] A T("), 4, "] B ");
  const auto graph = unrolled_text(sound, {});
  EXPECT_EQ(edge_names(graph, true), (EdgeNames{{"A1 of S(0)", "B of T(0,1)"},
                                                {"A1 of S(0)", "B of T(0,2)"},
                                                {"A1 of S(0)", "B of T(2,1)"},
                                                {"A1 of S(0)", "B of T(2,2)"},
                                                {"A1 of S(0)", "B of T(2,3)"},
                                                {"A1 of S(0)", "B of T(2,4)"},
                                                {"C of S(0)", "C of U(7)"},
                                                {"C of S(0)", "C of U(8)"}}));
}

TEST(JdfConstructs, PlacementsByDatumByPredicateOrNone) {
  const ReadText datum = read_text(class_with("RW X <- A(k, 0)"));
  EXPECT_EQ(datum.messages, "");
  EXPECT_EQ(only_class(datum).placement.kind, Placement::Kind::at_datum);
  const ReadText predicate =
      read_text("rowRANK [type = int]\nT(k)\nk = 0 .. 3\n: 0 == rowRANK && k > 0\nX <- A(k)\nBODY\nEND\n");
  EXPECT_EQ(predicate.messages, "");
  EXPECT_EQ(only_class(predicate).placement.kind, Placement::Kind::predicate);
  const ReadText nowhere_said = read_text("T(k)\nk = 0 .. 3\nX <- A(k)\nBODY\nEND\n");
  EXPECT_EQ(nowhere_said.messages, "");
  EXPECT_EQ(only_class(nowhere_said).placement.kind, Placement::Kind::none);
}

TEST(JdfConstructs, FlowsOfAllKinds) {
  const ReadText it = read_text(class_with(
      "RW F1 <- A(k, 0)\n -> A(k, 0)\nREAD F2 <- A(k, 1)\nRO F3 <- A(k, 2)\nWRITE F4 <- NEW\n -> A(k, 4)\n"
      "WO F5 -> A(k, 5)\nCTL F6\nF7 <- A(k, 7)\n -> A(k, 7)"));
  EXPECT_EQ(it.messages, "");
  std::vector<FlowAccess> found;
  for (const Flow& flow : only_class(it).flows) found.push_back(flow.access);
  EXPECT_EQ(found, (std::vector<FlowAccess>{FlowAccess::read_write, FlowAccess::read, FlowAccess::read,
                                            FlowAccess::write, FlowAccess::write, FlowAccess::control,
                                            FlowAccess::read_write}));
  EXPECT_FALSE(only_class(it).flows[6].keyword);
}

TEST(JdfConstructs, GuardsAndTernaries) {
  const ReadText it = read_text(class_with(
      "RW X <- k == 0 ? A(k, 0)\n <- (k > 0) && (k < 2) ? A(k, 1) : A(k, 2)\n"
      " -> k == 0 ? A(0, 0) : k == 1 ? A(1, 0) : A(2, 0)\n -> k == 2 ? A(1, 1) : k == 3 ? A(0, 1)"));
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(dependency_of(it, 0).branches.size(), 1U);
  EXPECT_EQ(dependency_of(it, 1).branches.size(), 2U);
  EXPECT_EQ(dependency_of(it, 1).branches[1].guard, no_expression);
  EXPECT_EQ(dependency_of(it, 2).branches.size(), 3U);
  EXPECT_NE(dependency_of(it, 3).branches[1].guard, no_expression);
}

TEST(JdfConstructs, NewAndNull) {
  const ReadText it = read_text(class_with("RW X <- (k == 0) ? NEW : NULL [type = SMALL]"));
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(dependency_of(it).branches[0].target.kind, Target::Kind::fresh);
  EXPECT_EQ(dependency_of(it).branches[1].target.kind, Target::Kind::null);
}

TEST(JdfConstructs, BroadcastsAndGathers) {
  const auto graph = unrolled_text(
      "N [type = int]\nS(z)\nz = 0 .. 0\n: A(0)\nREAD X <- A(0)\n -> X T(0 .. N .. 2)\nCTL C <- C T(0 .. "
      "N)\nBODY\nEND\n"
      "T(k)\nk = 0 .. N\n: A(k)\nREAD X <- k % 2 == 0 ? X S(0) : NULL\nCTL C -> C S(0)\nBODY\nEND\n",
      {"N=3"});
  EXPECT_EQ(edge_names(graph, true), (EdgeNames{{"X of S(0)", "X of T(0)"},
                                                {"X of S(0)", "X of T(2)"},
                                                {"C of T(0)", "C of S(0)"},
                                                {"C of T(1)", "C of S(0)"},
                                                {"C of T(2)", "C of S(0)"},
                                                {"C of T(3)", "C of S(0)"}}));
}

TEST(JdfConstructs, PropertiesOfDependencies) {
  const ReadText it = read_text(class_with(
      "RW X <- A(k, 0) [type = LOWER type_remote = UPPER type_data = FULL layout = \"dt\" layout_remote = %{ "
      "return dt; %}\n"
      "   count = k+1 count_remote = 2 displ = 8*k displ_remote = BLOCK other = 1]\n -> A(k, 0) [ATYPE]"));
  EXPECT_NE(it.messages.find("\"displ_remote\" has no effect here"), std::string::npos) << it.messages;
  EXPECT_EQ(dependency_of(it).properties.size(), 10U);
  EXPECT_EQ(text_of_property(it, dependency_of(it).properties, "displ"), "8*k");
  EXPECT_EQ(text_of_property(it, dependency_of(it).properties, "displ_remote"), "BLOCK");
  EXPECT_EQ(text_of_property(it, dependency_of(it, 1).properties, "ATYPE"), "(a word)");
}

TEST(JdfConstructs, PropertiesOfFlowsInBodies) {
  const ReadText it = read_text(
      class_with("RW X <- A(k, 0)\nBODY [type=CUDA\n /* sizes */ X.size=%{ return 8; %}\n X.dc=A]\nEND"));
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(text_of_property(it, only_class(it).bodies.at(0).properties, "X.dc"), "A");
}

// As in many files: the last input has no guard and is the fallback.
TEST(JdfConstructs, AnInputWithoutAGuardIsTheFallback) {
  const auto graph = unrolled_text(
      "T(k)\nk = 0 .. 2\n: A(k)\nREAD X <- k == 1 ? A(7)\n <- k == 2 ? A(8)\n <- NULL\nBODY\nEND\n", {});
  EXPECT_EQ(edge_names(graph, false),
            (EdgeNames{{"NULL", "X of T(0)"}, {"A(7)", "X of T(1)"}, {"A(8)", "X of T(2)"}}));
}

TEST(JdfConstructs, PrioritiesAndCosts) {
  const ReadText it =
      read_text("T(k)\nk = 0 .. 3\nSIMCOST 4 * k\n: A(k)\nRW X <- A(k)\n; k > 1 ? 10 - k : 0\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(text_at(it, only_class(it).simulation_cost), "4 * k");
  const auto graph = unroll(it.file, Settings(it.file)).graph;
  EXPECT_EQ(graph.tasks.at(1).priority, 0);
  EXPECT_EQ(graph.tasks.at(3).priority, 7);
}

TEST(JdfConstructs, SeveralBodiesWithProperties) {
  const ReadText it =
      read_text(class_with("RW X <- A(k, 0)\nBODY [type=CUDA\n   dyld=cublasDgemm dyldtype=gemm_t\n "
                           "weight=(k+1)]\n{ gpu(X); }\nEND\n"
                           "body [type = HIP stage_in = in_fn stage_out = out_fn]\n{ hip(X); }\nend // here\n"
                           "BODY [type=RECURSIVE]\n{ return NEXT; }\n  END\nBODY {\n endless(); END_IT; "
                           "}\n#if 0\nENDED\n#endif\nEND\nBODY [type = CPU]\n{ cpu(X); }\nEND"));
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(only_class(it).bodies.size(), 6U);
  EXPECT_EQ(text_of_property(it, only_class(it).bodies[0].properties, "weight"), "k+1");
  EXPECT_EQ(text_of_property(it, only_class(it).bodies[1].properties, "stage_in"), "in_fn");
  EXPECT_EQ(it.file.source.text(only_class(it).bodies[2].code), "\n{ return NEXT; }\n");
  EXPECT_EQ(it.file.source.text(only_class(it).bodies[3].code),
            "{\n endless(); END_IT; }\n#if 0\nENDED\n#endif\n");
  EXPECT_EQ(text_of_property(it, only_class(it).bodies[4].properties, "type"), "CPU");
}

TEST(JdfConstructs, InlineCAnywhereAnExpressionMayStand) {
  const ReadText it = read_text(
      "N [type = int]\nT(k, m)\nk = %{ return *first; %} .. %{ return N; %} - 1 .. %{ return 1; %}\n"
      "m = inline_c %{ return f(k); %}\nSIMCOST %{ return g(); %}\n: A(%{ return h(k, m); %})\n"
      "RW X <- %{ return k > 0; %} ? X T(k-1, inline_c%{ return f(k-1); %}) : A(0)\n -> X T(k+1, m)\n; %{ "
      "return PRIO(k); %}\n"
      "BODY [evaluate = %{ return 0; %}]\nEND\n");
  EXPECT_EQ(it.errors, 0U) << it.messages;
  EXPECT_THAT(it.messages, testing::StartsWith("it.jdf:10:7: warning: \"evaluate\" has no effect here\n"));
}

TEST(JdfConstructs, PointerMembersAndOldDots) {
  const ReadText it = read_text(
      "A [type = \"m*\"]\nT(k)\nk = 0 .. A->mt-1\nl = A->super.nt + A.mb\n: A(k, 0)\nRW X <- A(k, 0)\n -> "
      "A(k, 0)\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  std::set<std::string> members;
  for (const Member& member : it.file.members) members.insert(member.text);
  EXPECT_EQ(members, (std::set<std::string>{"A->mt", "A->super.nt", "A.mb"}));
  const auto graph = unroll(it.file, settings_of(it.file, {"A.mb=1"}, {"A=300,100,100,100"})).graph;
  EXPECT_EQ(graph.tasks.size(), 3U);
}

TEST(JdfConstructs, ImplicitCollectionsComeFirst) {
  const ReadText it =
      read_text("N [type = int]\nT(k)\nk = 0 .. N\n: here(k)\nRW X <- there(k, 0)\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  ASSERT_EQ(it.file.globals.size(), 3U);
  EXPECT_EQ(it.file.globals[0].name.text, "there");
  EXPECT_EQ(it.file.globals[1].name.text, "here");
  EXPECT_TRUE(it.file.globals[1].implicit);
  EXPECT_EQ(it.file.globals[0].dimensions, 2U);
}

TEST(JdfConstructs, CallsOfCFunctionsAreKept) {
  const ReadText it = read_text("T(k)\nk = 0 .. tiles(3, 4)\n: A(k)\nRW X <- A(owner(k))\nBODY\nEND\n");
  EXPECT_EQ(it.messages, "");
  EXPECT_THROW(unroll(it.file, Settings(it.file)), EvaluationError);
}

TEST(JdfConstructs, TasksWithoutParameters) {
  const auto graph =
      unrolled_text("S()\n: A(0)\nCTL C -> C T()\nBODY\nEND\nT()\n: A(0)\nCTL C <- C S()\nBODY\nEND\n", {});
  EXPECT_EQ(task_names(graph), (std::set<std::string>{"S()", "T()"}));
  EXPECT_EQ(unrolled::check(graph).findings.text(), "");
}

TEST(JdfConstructs, TheExampleOfThePaperOf2011) {
  const ReadText it = read_text(
      "NT [type = int]\nPING(k)\nk = 0 .. NT // Execution space\nT <- (k == 0) ? A(0) : I PONG(k-1) [ATYPE]\n"
      "-> (k == NT) ? A(0) : I PONG(k) [ATYPE]\n\nPONG(k)\nk = 0 .. NT-1 // Execution space\nI <- T PING(k) "
      "[ATYPE]\n"
      "-> T PING(k+1) [ATYPE]\n");
  EXPECT_EQ(it.errors, 0U);
  EXPECT_NE(it.messages.find("warning: PING has no BODY"), std::string::npos) << it.messages;
  EXPECT_EQ(unrolled::check(unroll(it.file, settings_of(it.file, {"NT=3"})).graph).findings.text(), "");
}

TEST(JdfConstructs, SeventyFlowsInOneClass) {
  std::string text = "T(k)\nk = 0 .. 1\n";
  for (int i = 0; i < 100; ++i) text += "l" + std::to_string(i) + " = k + " + std::to_string(i) + "\n";
  text += ": A(k)\n";
  for (int i = 0; i < 70; ++i) {
    text += "RW F" + std::to_string(i);
    for (int j = 0; j < 40; ++j)
      text += " <- l" + std::to_string(j) + " == -1 ? A(" + std::to_string(j) + ")\n";
    text += " <- A(" + std::to_string(100 + i) + ")\n";
    for (int j = 0; j < 40; ++j)
      text += " -> l" + std::to_string(j) + " == -1 ? A(" + std::to_string(j) + ")\n";
  }
  for (int i = 0; i < 30; ++i) text += "BODY [type = CUDA weight = " + std::to_string(i) + "]\nEND\n";
  const ReadText it = read_text(text);
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(only_class(it).flows.size(), 70U);
  EXPECT_EQ(unroll(it.file, Settings(it.file)).graph.tasks.size(), 2U);
}

TEST(JdfConstructs, LessThanMinusOneIsNotAnArrow) {
  const ReadText it = read_text(class_with("RW X <- k <-1 ? A(k, 0) : A(k, 1)"));
  EXPECT_EQ(it.messages, "");
  EXPECT_EQ(it.file.at(dependency_of(it).branches[0].guard).op, Operator::less);
}

TEST(JdfConstructs, PositionsReferToTheText) {
  const ReadText it = read_text(class_with("RW X <- A(k, 0)\n     -> B T(k)"));
  const Target& target = dependency_of(it, 1).branches[0].target;
  EXPECT_EQ(it.file.source.where(target.where), "it.jdf:7:9");
  EXPECT_EQ(it.file.source.text(target.where), "B T(k)");
}

TEST(JdfConstructs, LinesMayEndWithCarriageReturns) {
  std::string text = class_with("RW X <- A(k, 0)\n -> A(k, 0)");
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  EXPECT_EQ(read_text(text).messages, "");
}

}  // namespace fairlead::jdf::tests
