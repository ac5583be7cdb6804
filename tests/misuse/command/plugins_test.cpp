// --scheduler names an invalid or unusable plug-in; fairlead compare gets invalid arguments.
#include <gtest/gtest.h>

#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

class PluginMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(PluginMistakes, AreRefused) {
  Folder folder;
  expect_refused(folder, GetParam().words, 2, GetParam().named);
}

#define SOLVE_WITH "solve A.npy b.npy -o x.npy --scheduler "
constexpr Mistake plugin_mistakes[] = {
    {"AFileThatIsMissing", SOLVE_WITH "./mine.so", "there is no file ./mine.so"},
    {"AFileThatIsMissingForASimulation", "simulate cholesky --scheduler mine.so:weight=2", "no file mine.so"},
    {"AFolder", SOLVE_WITH "./", "./ is not a file"},
    {"AFileThatIsNoLibrary", SOLVE_WITH "./A.npy", "cannot load the scheduler's plug-in ./A.npy"},
    {"ALibraryWithoutAPolicy", SOLVE_WITH PLUGINS "/no_symbol.so", "write FAIRLEAD_POLICY(entry) in it"},
    {"OneForAnotherInterface", SOLVE_WITH PLUGINS "/other_interface.so",
     "another interface (of Fairlead 0.0.7)"},
    {"OneThatNamesNoFunction", SOLVE_WITH PLUGINS "/names_nothing.so", "is null"},
    {"OneThatMakesNoPolicy", SOLVE_WITH PLUGINS "/makes_nothing.so", "makes no policy"},
    {"AnOptionItDoesNotHave", SOLVE_WITH PLUGINS "/working.so:wieght=2", "(did you mean weight?)"},
    {"AValueItDoesNotTake", "compare --scheduler eager," PLUGINS "/working.so:depth=9", "from 1 to 8"},
    {"NothingToCompareWith", "compare --scheduler darts", "--scheduler darts is one policy"},
    {"AMisspeltPolicyToCompareWith", "compare --scheduler darts,egaer", "(did you mean eager?)"},
    {"AMisspeltWorkloadToCompare", "compare choleski", "choleski"},
    {"APageOfAComparison", "compare --report run.html", "--report needs a single run"},
    {"NeighboursBelowNothing", "compare --n 1920", "--n 1920"},
};

INSTANTIATE_TEST_SUITE_P(Mistakes, PluginMistakes, testing::ValuesIn(plugin_mistakes),
                         [](const auto& mistake) { return mistake.param.name; });

// An exception of a plug-in is one error line, and the program ends.
TEST(PluginMistake, AnExceptionOfItsOwn) {
  Folder folder;
  expect_refused(folder, SOLVE_WITH PLUGINS "/refuses.so", 1, "not on a Saturday");
}

}  // namespace
}  // namespace fairlead::misuse
