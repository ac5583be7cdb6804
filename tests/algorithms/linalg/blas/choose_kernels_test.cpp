// Selection among BLAS libraries and core types: with scripts as helper programs, and once with the real helper. A helper
// counts its starts.
#include "algorithms/linalg/blas/choose_kernels.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fairlead/error.hpp>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/core_types.hpp"
#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "base/core_time.hpp"
#include "base/shared_file.hpp"

namespace fairlead::linalg {
namespace {

using testing::HasSubstr;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Choosing : public testing::Test {
 protected:
  Choosing() {
    settings.libraries = {"libpretended.so"};
    settings.cache_directory = directory / "cache";
    std::ofstream(library) << "a file to have a date";
  }
  ~Choosing() override { std::filesystem::remove_all(directory); }

  /// A shell script as helper: $1 is the library, $OPENBLAS_CORETYPE the core type.
  void helper(const std::string& script) {
    std::ofstream(directory / "helper.sh") << "echo \"$1 $OPENBLAS_CORETYPE\" >> '" << log.string() << "'\n"
                                           << script;
    settings.helper = {"/bin/sh", (directory / "helper.sh").string()};
  }
  /// A library that reaches `gflops` with its default core type.
  void helper_with_rate(double gflops) {
    helper(report("${OPENBLAS_CORETYPE:-Plain}", std::to_string(gflops)));
  }

  /// `own`: the rate of tasks with Fairlead's products.
  std::string report(const std::string& core_type, const std::string& gflops,
                     const std::string& own = "0") const {
    return fmt::format(
        "printf "
        "'fairlead-blas-timing\\t3\\t%s\\t%s\\tOPENBLAS_CORETYPE\\t\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%s\\t%"
        "s\\n' "
        "'{0}' \"{1}\" \"{2}\" \"{2}\" \"{2}\" \"{2}\" \"{3}\" \"{3}\" \"{3}\" \"{3}\"\n",
        library.string(), core_type, gflops, own);
  }
  std::size_t children() const {
    const auto text = content(log);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  std::filesystem::path cache_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(settings.cache_directory))
      if (entry.path().extension() == ".txt") return entry.path();
    return {};
  }

  static std::filesystem::path make_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-choosing-XXXXXX").string();
    return ::mkdtemp(name.data());
  }

  const std::filesystem::path directory = make_directory();
  const std::filesystem::path library = directory / "pretended.so", log = directory / "log";
  KernelSettings settings;
};

TEST_F(Choosing, TheFastestCoreTypeIsChosen) {
  if (core_types(this_processor()).empty()) GTEST_SKIP() << "no core types known for this processor";
  helper("case $OPENBLAS_CORETYPE in '') r=60;; Haswell|Nehalem|Sandybridge) r=90;; *) r=80;; esac\n" +
         report("${OPENBLAS_CORETYPE:-Plain}", "$r"));
  const auto choice = choose_kernels(settings);
  EXPECT_DOUBLE_EQ(choice.best.gflops(), 90);
  EXPECT_EQ(choice.best.candidate.core_type, choice.best.core_type);
  EXPECT_DOUBLE_EQ(choice.default_timing.gflops(), 60);
  EXPECT_DOUBLE_EQ(choice.gain(), 1.5);
}

TEST_F(Choosing, TheLibrarysDefaultStaysUnlessAnotherIsClearlyFaster) {
  helper("test -z \"$OPENBLAS_CORETYPE\" && r=100 || r=102\n" + report("${OPENBLAS_CORETYPE:-Plain}", "$r"));
  EXPECT_EQ(choose_kernels(settings).best.candidate.core_type, "");
}

TEST_F(Choosing, OwnProductsAreUsedIfClearlyFasterOrRequested) {
  for (const auto& [own, faster] : {std::pair("0", false), {"101", false}, {"110", true}, {"90", false}}) {
    settings.cache_directory = directory / (std::string("cache") + own);
    helper(report("${OPENBLAS_CORETYPE:-Plain}", "100", own));
    settings.own_products.reset();
    const auto choice = choose_kernels(settings);
    EXPECT_EQ(choice.own_products, faster) << own;
    EXPECT_DOUBLE_EQ(choice.gain(), faster ? 1.1 : 1);
    const auto kept = choose_kernels(settings);
    EXPECT_TRUE(kept.from_cache);
    EXPECT_EQ(kept.own_products, faster) << own;
    settings.own_products = true;
    EXPECT_EQ(choose_kernels(settings).own_products, std::string(own) != "0");
    settings.own_products = false;
    EXPECT_FALSE(choose_kernels(settings).own_products);
  }
}

// With own products another core type may be the fastest.
TEST_F(Choosing, ACoreTypeIsRatedWithTheSelectedProducts) {
  if (core_types(this_processor()).empty()) GTEST_SKIP() << "no core types known for this processor";
  helper("test -z \"$OPENBLAS_CORETYPE\" && { r=100; o=90; } || { r=80; o=120; }\n" +
         report("${OPENBLAS_CORETYPE:-Plain}", "$r", "$o"));
  const auto choice = choose_kernels(settings);
  EXPECT_TRUE(choice.own_products);
  EXPECT_NE(choice.best.core_type, "Plain");
  settings.own_products = false;
  EXPECT_EQ(choose_kernels(settings).best.core_type, "Plain");
}

// A site sets OPENBLAS_CORETYPE for all of its machines: that is the default of a program, not the fastest.
TEST_F(Choosing, AnInheritedCoreTypeIsTheDefaultAndMayLose) {
  const auto types = core_types(this_processor());
  if (types.empty()) GTEST_SKIP() << "no core types known for this processor";
  helper("test -z \"$OPENBLAS_CORETYPE\" && r=100 || r=60\n" + report("${OPENBLAS_CORETYPE:-Plain}", "$r"));
  for (const auto& inherited : {types.front(), std::string("Prescott")}) {
    settings.inherited_core_type = inherited;
    const auto choice = choose_kernels(settings);
    EXPECT_EQ(choice.default_timing.core_type, inherited);
    EXPECT_DOUBLE_EQ(choice.default_timing.gflops(), 60);
    EXPECT_EQ(choice.best.core_type, "Plain");
  }
}

TEST_F(Choosing, TheSecondSelectionStartsNoProcess) {
  helper_with_rate(50);
  const auto first = choose_kernels(settings);
  const auto started = children();
  ASSERT_GT(started, 0u);
  const auto second = choose_kernels(settings);
  EXPECT_EQ(children(), started);
  EXPECT_TRUE(second.from_cache);
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(second.best.path, first.best.path);
  EXPECT_DOUBLE_EQ(second.best.gflops(), first.best.gflops());
}

TEST_F(Choosing, TwoConcurrentSelectionsTimeOnce) {
  helper_with_rate(50);
  choose_kernels(settings);
  const auto once = children();
  std::filesystem::remove_all(settings.cache_directory);
  {
    std::jthread other([&] { choose_kernels(settings); });
    choose_kernels(settings);
  }
  EXPECT_EQ(children(), 2 * once);
}

TEST_F(Choosing, ANewerLibraryIsTimedAgain) {
  helper_with_rate(50);
  choose_kernels(settings);
  std::ofstream(library) << "another version of the library";
  helper_with_rate(70);
  EXPECT_DOUBLE_EQ(choose_kernels(settings).best.gflops(), 70);
}

TEST_F(Choosing, ADamagedCacheIsIgnoredAndRewritten) {
  helper_with_rate(50);
  choose_kernels(settings);
  const auto whole = content(cache_file());
  for (const auto& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), std::string(5000, '\0'), "x" + whole,
        whole.substr(0, whole.find("50.000")) + "90" + whole.substr(whole.find("50.000") + 2)}) {
    std::ofstream(cache_file()) << damaged;
    const auto choice = choose_kernels(settings);
    EXPECT_FALSE(choice.from_cache);
    EXPECT_DOUBLE_EQ(choice.best.gflops(), 50);
    EXPECT_EQ(content(cache_file()), whole);
  }
}

// Any process can compute the checksum: it does not authenticate the file.
TEST_F(Choosing, ALibraryOrVariableFromTheCacheAloneIsNotUsed) {
  helper_with_rate(50);
  choose_kernels(settings);
  const auto whole = content(cache_file());
  const auto with_checksum = [](std::string text) {
    text.erase(text.rfind("check\t"));
    return text + fmt::format("check\t{:016x}\n", text_hash(text));
  };
  const auto instead = [&](const std::string& what, const std::string& with) {
    std::string text = whole;
    const auto at = text.find(what, text.find("\ntiming\t"));
    EXPECT_NE(at, std::string::npos);
    return with_checksum(text.replace(at, what.size(), with));
  };
  EXPECT_EQ(with_checksum(whole), whole);
  for (const auto& forged :
       {instead("libpretended.so", "/tmp/theirs.so"), instead("OPENBLAS_CORETYPE", "LD_PRELOAD")}) {
    std::ofstream(cache_file()) << forged;
    const auto choice = choose_kernels(settings);
    EXPECT_FALSE(choice.from_cache);
    EXPECT_EQ(choice.best.candidate.library, "libpretended.so");
    EXPECT_EQ(content(cache_file()), whole);
  }
}

TEST_F(Choosing, ACacheDirectoryThatOthersCanWriteToIsNotUsed) {
  helper_with_rate(50);
  choose_kernels(settings);
  std::filesystem::permissions(settings.cache_directory, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const auto choice = choose_kernels(settings);
  EXPECT_FALSE(choice.from_cache);
  EXPECT_DOUBLE_EQ(choice.best.gflops(), 50);
  EXPECT_THAT(choice.cache_problem, HasSubstr("can be written by other users"));
}

TEST_F(Choosing, AnUnwritableCacheIsNoError) {
  helper_with_rate(50);
  settings.cache_directory = library / "cache";  // below a file
  const auto choice = choose_kernels(settings);
  EXPECT_DOUBLE_EQ(choice.best.gflops(), 50);
  EXPECT_THAT(choice.cache_problem, HasSubstr((library / "cache").string()));
}

TEST_F(Choosing, ACandidateThatCrashesIsSkipped) {
  if (core_types(this_processor()).empty()) GTEST_SKIP() << "no core types known for this processor";
  helper("test -n \"$OPENBLAS_CORETYPE\" && kill -ILL $$\n" + report("Plain", "40"));
  const auto choice = choose_kernels(settings);
  EXPECT_DOUBLE_EQ(choice.best.gflops(), 40);
  ASSERT_FALSE(choice.failures.empty());
  EXPECT_THAT(choice.failures[0].second, HasSubstr("Illegal instruction"));
}

TEST_F(Choosing, ACoreTypeThatTheLibraryReplacesIsSkipped) {
  helper(report("Plain", "40"));  // independent of the core type
  EXPECT_EQ(choose_kernels(settings).timings.size(), 1u);
}

// The child is killed. The cache records the timeout, so that later runs do not wait for it again.
TEST_F(Choosing, ACandidateThatHangsIsKilledAndCached) {
  helper("test \"$1\" = libhangs.so && exec sleep 100\n" + report("${OPENBLAS_CORETYPE:-Plain}", "40"));
  settings.libraries = {"libpretended.so", "libhangs.so"};
  const auto start = std::chrono::steady_clock::now();
  const auto choice = choose_kernels(settings);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
  EXPECT_THAT(choice.failures.back().second, HasSubstr("took longer than"));
  const std::size_t started = children();
  const auto kept = choose_kernels(settings);
  EXPECT_TRUE(kept.from_cache);
  EXPECT_EQ(children(), started);
  EXPECT_THAT(kept.failures.back().second, HasSubstr("took longer than"));
  EXPECT_EQ(kept.best.path, choice.best.path);
}

namespace {

/// Threads that keep one core busy.
class BusyCore {
 public:
  explicit BusyCore(int threads) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        bind();
        while (!stop.stop_requested()) {
        }
      });
  }
  /// Binds the calling thread and its children to that core.
  static void bind() {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(core_of_process(), &core);
    ::sched_setaffinity(0, sizeof core, &core);
  }

 private:
  static int core_of_process() {
    cpu_set_t allowed;
    ::sched_getaffinity(::getpid(), sizeof allowed, &allowed);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    return core;
  }
  std::vector<std::jthread> threads_;
};

}  // namespace

// On a busy core, the wall time of a child is a multiple of its CPU time.
TEST_F(Choosing, ACandidateThatHasToWaitForACoreIsTimed) {
  if (!core_time_of(this_thread())) GTEST_SKIP() << "this kernel does not count waiting for a core";
  helper("i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done\n" + report("${OPENBLAS_CORETYPE:-Plain}", "40"));
  const auto took = [&] {
    TimingOutcome outcome;
    std::thread thread([&] {
      BusyCore::bind();
      const auto begin = std::chrono::steady_clock::now();
      outcome = time_in_child(settings.helper, {"libpretended.so", {}}, 128, std::chrono::seconds(1));
      EXPECT_TRUE(outcome.timing) << outcome.failure;
      outcome.core_type_numbers =
          std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    });
    thread.join();
    return outcome;
  };
  const BusyCore others(8);
  const TimingOutcome starved = took();
  EXPECT_LT(seconds(starved.spent), std::stod(starved.core_type_numbers) / 2);
}

TEST_F(Choosing, TheBudgetCoversAllCandidatesTogether) {
  helper("exec sleep 100\n");
  settings.libraries = {"liba.so", "libb.so", "libc.so", "libd.so"};
  settings.budget = std::chrono::milliseconds(700);
  EXPECT_THROW(choose_kernels(settings), SystemError);
  EXPECT_LE(children(), 1u);  // it may have ended before its report
}

TEST_F(Choosing, ACoreTypeCanBeRequested) {
  const auto types = core_types(this_processor());
  if (types.empty()) GTEST_SKIP() << "no core types known for this processor";
  helper("test -z \"$OPENBLAS_CORETYPE\" && r=100 || r=50\n" + report("${OPENBLAS_CORETYPE:-Plain}", "$r"));
  settings.core_type = types.back();
  const auto choice = choose_kernels(settings);
  EXPECT_EQ(choice.best.candidate.core_type, types.back());
  EXPECT_DOUBLE_EQ(choice.best.gflops(), 50);
}

TEST_F(Choosing, AnUnknownCoreTypeIsAnErrorThatNamesTheKnownOnes) {
  helper(report("Plain", "40"));
  settings.core_type = "Skylark";
  try {
    choose_kernels(settings);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"Skylark\""));
    EXPECT_THAT(error.what(), HasSubstr("Plain"));
  }
}

TEST_F(Choosing, TheErrorNamesAMissingHelper) {
  settings.helper = {(directory / "nothing").string()};
  try {
    choose_kernels(settings);
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr((directory / "nothing").string()));
  }
}

TEST_F(Choosing, InvalidOutputOfAHelperIsRejected) {
  helper("echo hello\n");
  try {
    choose_kernels(settings);
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("printed no timing"));
  }
}

// With the real helper. The child's file descriptors and signals are separate.
TEST_F(Choosing, TheRealHelperTimesOpenBlas) {
#ifndef FAIRLEAD_TIME_BLAS
  GTEST_SKIP() << "built without the programs: there is no helper";
#else
  settings.helper = {FAIRLEAD_TIME_BLAS};
  settings.libraries = {"libopenblas.so.0", "libno_such_blas.so"};
  settings.tile = 128;
  const auto choice = choose_kernels(settings);
  EXPECT_GT(choice.best.rates.gemm, 0.1);
  // Compared with the selected products: with its own products the library may be slower than the default.
  EXPECT_GE(choice.gain(), 1);
  EXPECT_THAT(choice.best.path, HasSubstr("openblas"));
  EXPECT_THAT(choice.failures.back().second, HasSubstr("cannot load the library \"libno_such_blas.so\""));
#endif
}

// All libraries on the loader's path are candidates, the reference implementation last.
TEST_F(Choosing, LibrariesOnTheLoadersPathAreTried) {
  helper("case $1 in *blis*) r=70;; *openblas*) r=50;; *) r=3;; esac\n" +
         report("${OPENBLAS_CORETYPE:-Plain}", "$r"));
  const auto place = directory / "place";
  std::filesystem::create_directories(place);
  for (const char* name : {"libblas.so.3", "libblis.so.4", "libopenblas.so.0"})
    std::ofstream(place / name) << name;
  settings.libraries.clear();
  settings.loader = {{place}, directory / "none", {}};
  const auto choice = choose_kernels(settings);
  EXPECT_EQ(choice.default_timing.candidate.library, "libopenblas.so.0");
  EXPECT_EQ(choice.best.candidate.library, "libblis.so.4");
  EXPECT_EQ(choice.timings.back().candidate.library, "libblas.so.3");
  // A new library: all are timed again.
  std::ofstream(place / "libmkl_rt.so.2") << "mkl";
  EXPECT_FALSE(choose_kernels(settings).from_cache);
  EXPECT_TRUE(choose_kernels(settings).from_cache);
}

#ifdef FAIRLEAD_BLIS_LIKE_BLAS
// As for BLIS and AOCL: another variable, other names, and the library reports its choice.
TEST_F(Choosing, TheCoreTypeIsSetByTheLibrarysVariable) {
  if (core_types(this_processor(), "BLIS_ARCH_TYPE").empty()) GTEST_SKIP() << "no AVX2";
  settings.helper = {FAIRLEAD_TIME_BLAS};
  settings.libraries = {FAIRLEAD_BLIS_LIKE_BLAS};
  settings.tile = 128;
  for (const bool from_cache : {false, true}) {
    const auto choice = choose_kernels(settings);
    EXPECT_EQ(choice.from_cache, from_cache);
    // The default and one core type; the library does not know the other names. OpenBLAS below it may report its own.
    if (choice.default_timing.variable == "OPENBLAS_CORETYPE")
      GTEST_SKIP() << "linked with OpenBLAS, which takes the core type";
    ASSERT_EQ(choice.timings.size(), 2u);
    EXPECT_EQ(choice.timings[0].core_type, "pretended");
    EXPECT_EQ(choice.timings[1].core_type, "haswell");
    EXPECT_EQ(choice.timings[1].candidate.variable, "BLIS_ARCH_TYPE");
    ASSERT_EQ(choice.failures.size(), 1u);
    EXPECT_EQ(choice.failures[0].first.core_type, "zen3");
    EXPECT_THAT(choice.failures[0].second, HasSubstr("does not know this core type"));
  }
}

// The threads of several workers would contend.
TEST_F(Choosing, ALibraryThatIgnoresTheThreadLimitIsSkipped) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  settings.helper = {FAIRLEAD_TIME_BLAS};
  settings.libraries = {"libopenblas.so.0", FAIRLEAD_THREADED_BLAS};
  settings.tile = 128;
  const auto choice = choose_kernels(settings);
  EXPECT_THAT(choice.best.path, HasSubstr("openblas"));
  ASSERT_FALSE(choice.failures.empty());
  EXPECT_EQ(choice.failures.back().first.library, FAIRLEAD_THREADED_BLAS);
  EXPECT_THAT(choice.failures.back().second, HasSubstr("computes on several threads"));
}
#endif

TEST_F(Choosing, WithoutAnyLibraryTheErrorListsTheCandidates) {
#ifndef FAIRLEAD_TIME_BLAS
  GTEST_SKIP() << "built without the programs: there is no helper";
#else
  settings.helper = {FAIRLEAD_TIME_BLAS};
  settings.libraries = {"libno_such_blas.so"};
  try {
    choose_kernels(settings);
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("libno_such_blas.so: cannot open shared object file"));
  }
#endif
}

TEST_F(Choosing, TheLossInAnotherProcessIsReportedWithTheRemedy) {
  const auto blas = Blas::load();
  KernelChoice choice;
  choice.default_timing = {
      {"libopenblas.so.0", ""}, blas->path(), blas->core_type(), "OPENBLAS_CORETYPE", {62, 62, 62, 62}};
  choice.best = {
      {"libopenblas.so.0", "Faster"}, blas->path(), "Faster", "OPENBLAS_CORETYPE", {105, 105, 105, 105}};
  choice.timings = {choice.default_timing, choice.best};
  const auto text = describe_loss(choice, *blas);
  EXPECT_THAT(text, HasSubstr("62 of 105 GF/s"));
  EXPECT_THAT(text, HasSubstr("OPENBLAS_CORETYPE=Faster"));
  choice.best.candidate.core_type = "";  // the library's default is best: the environment is wrong
  EXPECT_THAT(describe_loss(choice, *blas), HasSubstr("unset OPENBLAS_CORETYPE"));
  choice.best = choice.default_timing;
  EXPECT_EQ(describe_loss(choice, *blas), "");
}

TEST_F(Choosing, ACoreTypeIsRejectedAfterTheLibraryIsLoaded) {
  Blas::load();
  EXPECT_THROW(set_blas_environment({"libopenblas.so.0", "Haswell"}), UsageError);
}

// In a process that has not loaded the library, the library uses the core type that was set.
TEST_F(Choosing, ACoreTypeThatWasSetIsUsed) {
  const auto types = core_types(this_processor());
  if (types.empty()) GTEST_SKIP() << "no core types known for this processor";
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        set_blas_environment({"libopenblas.so.0", types.front()});
        std::exit(Blas::load()->core_type() == types.front() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CoreTypes, AreLimitedToTheInstructionsOfTheProcessor) {
  const auto zen3 = parse_cpuinfo(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC "
      "7763\n"
      "stepping\t: 1\nflags\t\t: fpu sse4_2 avx avx2 fma\n\nprocessor\t: 1\nflags\t: avx512f\n");
  EXPECT_EQ(zen3.model, "AMD EPYC 7763, family 25, model 1, stepping 1");
  EXPECT_THAT(core_types(zen3), testing::ElementsAre("Haswell", "Zen"));
  EXPECT_THAT(core_types({"old", {"sse4_2", "avx"}}), testing::ElementsAre("Sandybridge"));
  EXPECT_THAT(core_types({"unknown", {}}), testing::IsEmpty());
  EXPECT_THAT(core_types(zen3, "BLIS_ARCH_TYPE"), testing::ElementsAre("haswell", "zen", "zen2", "zen3"));
  EXPECT_THAT(core_types(zen3, "MKL_ENABLE_INSTRUCTIONS"), testing::IsEmpty());
}

TEST(KernelRates, EveryKernelIsMeasuredOnEveryThread) {
  const auto blas = Blas::load();
  std::atomic<int> started = 0;
  RateSettings settings{.tile = 96, .threads = 3, .per_kernel = std::chrono::milliseconds(5)};
  settings.on_thread_start = [&](int) { ++started; };
  for (const auto& rates : {measure<double>(*blas, settings), measure<float>(*blas, settings)}) {
    EXPECT_GT(rates.gemm, 0.01);
    EXPECT_GT(rates.syrk, 0.01);
    EXPECT_GT(rates.trsm, 0.01);
    EXPECT_GT(rates.potrf, 0.01);
  }
  EXPECT_EQ(started, 6);
}

TEST(KernelRates, AnExceptionInOneThreadIsRethrown) {
  const auto blas = Blas::load();
  RateSettings settings{.tile = 32, .threads = 3, .per_kernel = std::chrono::milliseconds(1)};
  settings.on_thread_start = [](int thread) {
    if (thread == 1) throw SystemError("no such core");
  };
  EXPECT_THROW(measure<double>(*blas, settings), SystemError);
}

}  // namespace
}  // namespace fairlead::linalg
