// A policy from a plug-in has all features of a built-in one; a file that is not a plug-in is refused with a reason.
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "engine/log/logged_run.hpp"
#include "engine/replay.hpp"
#include "schedule/graph_world.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

using testing::HasSubstr;

std::string in_folder(const std::string& name) { return std::string(PLUGINS) + "/" + name; }

std::string refusal(const std::string& written) {
  try {
    make_policy(written);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Plugins, AreNamedByAPathOrAFileExtension) {
  EXPECT_TRUE(is_plugin("./policy"));
  EXPECT_TRUE(is_plugin("policy.so"));
  EXPECT_FALSE(is_plugin("darts"));
  EXPECT_FALSE(is_plugin("so"));
}

TEST(Plugins, WithoutAFolderAreInTheCurrentFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(PLUGINS);
  EXPECT_NO_THROW(make_policy("working.so"));
  std::filesystem::current_path(before);
}

TEST(Plugins, OrderTasks) {
  const auto oldest = make_policy(in_folder("working.so:order=oldest")), eager = make_policy("eager"),
             newest = make_policy(in_folder("working.so"));
  const auto by_oldest = cholesky(12, 30)->run(*oldest), by_eager = cholesky(12, 30)->run(*eager),
             by_newest = cholesky(12, 30)->run(*newest);
  EXPECT_EQ(by_oldest.tasks, by_eager.tasks);
  EXPECT_EQ(by_oldest.loads, by_eager.loads);
  EXPECT_NE(by_newest.loads, by_eager.loads);
}

TEST(Plugins, TakeOptionsLikeBuiltInPolicies) {
  const std::string path = in_folder("working.so");
  EXPECT_NO_THROW(make_policy(path + ":weight=2:depth=8:eager=no"));
  EXPECT_EQ(refusal(path + ":wieght=2"),
            "the scheduler " + path +
                " has no option \"wieght\" (did you mean weight?); it has order, weight, depth, eager");
  EXPECT_THAT(refusal(path + ":weight=3"), HasSubstr("must be a number from 0 to 2"));
  EXPECT_THAT(refusal(path + ":depth=0.5"), HasSubstr("must be a whole number from 1 to 8"));
  EXPECT_THAT(refusal(path + ":order=newst"), HasSubstr("(did you mean newest?)"));
  EXPECT_THAT(refusal(path + ":eager=yes:depth=2"), HasSubstr("means nothing if eager is set"));
}

TEST(Plugins, ReplayByTheNameInTheLog) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const tests::LoggedRun run = tests::logged_run(seed, {.policy = in_folder("working.so:order=oldest")});
    const engine::ReplayResult again = run.replay();
    EXPECT_EQ(again.digest, run.digest) << "seed " << seed;
    EXPECT_EQ(again.commands, run.commands);
  }
}

// The log of a real run is replayed from the file alone.
TEST(Plugins, AreNamedInTheLogOfARun) {
  const std::string policy = in_folder("working.so:order=oldest");
  const std::string log =
      (std::filesystem::temp_directory_path() / ("fairlead-" + std::to_string(getpid()) + ".log")).string();
  std::uint64_t digest = 0;
  {
    Config config;
    config.set("scheduler", policy);
    config.set("event-log", log);
    config.set("workers", 2);
    Runtime runtime(config);
    double from = 1, to = 2;
    const auto a = runtime.value("a", from), b = runtime.value("b", to);
    const auto add = codelet("add").cpu([](In<double> x, InOut<double> y) { *y += *x; });
    Flow flow(runtime);
    for (int i = 0; i < 20; ++i) flow.submit(add(a, b));
    flow.wait();
    digest = runtime.command_digest().value;
  }
  const engine::LogFile read = engine::EventLog::read(log);
  std::filesystem::remove(log);
  EXPECT_EQ(read.head.policy, policy);
  EXPECT_EQ(engine::replay(read.head, make_policy(read.head.policy), read.words).digest, digest);
}

TEST(Plugins, ThatCannotBeUsedAreRefused) {
  EXPECT_THAT(refusal("./no-such-file.so"), HasSubstr("there is no file ./no-such-file.so"));
  EXPECT_THAT(refusal(PLUGINS), HasSubstr("is not a file"));
  EXPECT_THAT(refusal(in_folder("CTestTestfile.cmake")), HasSubstr("cannot load"));
  EXPECT_THAT(refusal(in_folder("no_symbol.so")), HasSubstr("write FAIRLEAD_POLICY(entry) in it"));
  EXPECT_THAT(refusal(in_folder("other_interface.so")),
              HasSubstr("was built against another interface (of Fairlead 0.0.7)"));
  for (const char* other : {"symbol_is_code.so", "symbol_is_small.so"})
    EXPECT_THAT(refusal(in_folder(other)), HasSubstr("its symbol fairlead_policy was not defined by"))
        << other;
  EXPECT_THAT(refusal(in_folder("symbol_is_garbage.so")),
              HasSubstr("was built against another interface (of Fairlead unknown)"));
  EXPECT_THAT(refusal(in_folder("names_nothing.so")), HasSubstr("is null"));
  EXPECT_THAT(refusal(in_folder("makes_nothing.so")), HasSubstr("makes no policy"));
}

// The text of the exception is in the plug-in, which must still be loaded.
TEST(Plugins, MayThrowExceptionsThatOutliveThem) {
  std::exception_ptr thrown;
  try {
    make_policy(in_folder("refuses.so"));
  } catch (...) {
    thrown = std::current_exception();
  }
  ASSERT_NE(thrown, nullptr);
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "not on a Saturday");
  }
}

}  // namespace
}  // namespace fairlead::schedule
