// fairlead simulate and compare: their output, and errors for options without effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "command/answer.hpp"
#include "engine/replay.hpp"
#include "schedule/policies.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
using testing::Not;

class Simulate : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-simulate-" + std::to_string(getpid()));
};

const std::string small = "simulate cholesky --n 9600 --tile 960 --machine k40 --memory 60MB ";

// Both ends must name each edge: an edge that only one end names is an error before the simulation.
TEST_F(Simulate, AJdfGraphWithAWrongEdgeFailsNamingTheEdge) {
  std::ostringstream text;
  text << std::ifstream(JDF_EXAMPLES "/cholesky.jdf").rdbuf();
  const std::string right = text.str();
  const auto simulated = [&](const std::string& from, const std::string& to) {
    std::string changed = right;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    std::ofstream(path("it.jdf")) << changed;
    return fairlead_command("simulate jdf " + path("it.jdf") +
                            " --matrix descA=9600,9600,960,960 --machine k40 --scheduler eager");
  };
  const std::string edge = "-> T TRSM(k+1 .. descA->mt-1, k)";
  const Answer whole = simulated(edge, edge);
  EXPECT_EQ(whole.exit_code, 0) << whole.text;
  const Answer missing = simulated(edge, "-> T TRSM(k+1 .. descA->mt-2, k)");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.text, HasSubstr("T of TRSM(9,0) takes T of POTRF(0), which does not send it there"));
  const Answer surplus = simulated(edge, edge + "\n     -> (k == 2) ? T TRSM(k+3, k+1)");
  EXPECT_EQ(surplus.exit_code, 1);
  EXPECT_THAT(surplus.text,
              HasSubstr("T of POTRF(2) goes to T of TRSM(5,3), which takes T of POTRF(3) instead"));
}

TEST_F(Simulate, APageOfSeveralSeedsStatesTheShownSeed) {
  const auto page = [&](const std::string& more) {
    const Answer answer =
        fairlead_command(small + "--noise 5 --scheduler eager --report " + path("run.html") + more);
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    std::ostringstream text;
    text << std::ifstream(path("run.html")).rdbuf();
    return text.str();
  };
  EXPECT_THAT(page(" --seed 3 --runs 4"), HasSubstr(", seed 3 of 3 to 6"));
  EXPECT_THAT(page(" --seed 3"), Not(HasSubstr("seed 3 of")));
}

TEST_F(Simulate, WritesALogThatReplaysToTheSameCommands) {
  const Answer answer = fairlead_command(small + "--scheduler dmdas:ready=first --noise 5 --event-log " +
                                         path("run.log") + " --json " + path("run.json"));
  ASSERT_EQ(answer.exit_code, 0) << answer.text;
  std::ifstream stream(path("run.json"));
  const engine::LogFile log = engine::EventLog::read(path("run.log"));
  EXPECT_EQ(log.head.policy, "dmdas:ready=first");
  const engine::ReplayResult again =
      engine::replay(log.head, schedule::make_policy(log.head.policy), log.words);
  EXPECT_EQ(fmt::format("{:016x}", again.digest), nlohmann::json::parse(stream)[0]["command_digest"]);
}

struct Refused {
  const char* words;
  const char* why;
};

TEST_F(Simulate, RefusesOptionsWithoutEffect) {
  for (const Refused& refused : {
           Refused{"--scheduler eager,lws --event-log run.log",
                   "--event-log needs a single run: give --scheduler one"},
           Refused{"--scheduler all --trace run.pftrace",
                   "--trace needs a single run: give --scheduler one policy"},
           Refused{"--record-flow run.flow", "--record-flow is for real runs"},
           Refused{"--replay", "unknown option --replay"},
           Refused{"--seeds 1-9", "unknown option --seeds"},
           Refused{"--plant dirty_dropped", "unknown option --plant"},
           Refused{"--workers 3", "`fairlead simulate` does not accept --workers;"},
           Refused{"--no-huge-pages", "`fairlead simulate` does not accept --no-huge-pages;"},
           Refused{"--devices emulated:memory=1GiB", "`fairlead simulate` does not accept --devices;"},
           Refused{"--host-memory 1GB", "--host-memory has no effect here: data are in RAM"},
           Refused{"--gpus 0 --data ram", "--memory has no effect here: data are in RAM"},
           Refused{"--machine epyc-7642 --host-memory 1GB",
                   "--host-memory has no effect here: without devices"},
           Refused{"--machine epyc-7642 --streams 2", "--streams has no effect here: no device is used"},
           Refused{"--machine epyc-7642 --no-peers", "--peers has no effect here: no device is used"},
           Refused{"--machine epyc-7642 --advice cyclic", "--advice has no effect here: no device is used"},
       }) {
    const Answer answer = fairlead_command(small + refused.words);
    EXPECT_EQ(answer.exit_code, 2) << refused.words;
    EXPECT_THAT(answer.text, HasSubstr(refused.why));
  }
  EXPECT_THAT(fairlead_command("simulate").text, HasSubstr("missing argument WORKLOAD"));
  EXPECT_THAT(fairlead_command("compare --event-log run.log").text, HasSubstr("needs a single run"));
  EXPECT_THAT(fairlead_command("compare --spin 1").text,
              HasSubstr("`fairlead compare` does not accept --spin"));
  EXPECT_THAT(fairlead_command("experiment list --json a").text,
              HasSubstr("`fairlead experiment` does not accept"));
}

TEST_F(Simulate, SizesTheSchedulerColumnByTheLongestName) {
  const std::string text =
      fairlead_command(small + "--scheduler lws,dmdas:ready=first,heft-tmdp-init:prefetch=yes:beta=1.5").text;
  std::istringstream lines(text.substr(text.find("scheduler  ")));
  std::string heading;
  std::getline(lines, heading);
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(line.size(), heading.size()) << line;
  EXPECT_GT(heading.find("seconds"), 36u);
}

TEST_F(Simulate, ChecksAUserMachineFile) {
  const std::string summit = fairlead_command("machines summit").text;
  EXPECT_THAT(summit, HasSubstr("\n[network]\nnodes = 4608\ninterfaces = 2\n"));
  std::ofstream(path("mine.toml")) << summit;
  const Answer answer = fairlead_command("machines " + path("mine.toml"));
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("42 cores, 6 devices"));
  EXPECT_THAT(answer.text, HasSubstr("4608 nodes with 2 network interfaces each"));
  std::ofstream(path("mine.toml"), std::ios::app) << "[netwrok]\n";
  EXPECT_EQ(fairlead_command("machines " + path("mine.toml")).exit_code, 2);
}

TEST(ExperimentList, AcceptsOneName) {
  const std::string some = fairlead_command("experiment list starpu").text;
  EXPECT_THAT(some, HasSubstr("starpu/fig-3a"));
  EXPECT_THAT(some, Not(HasSubstr("darts/")));
  EXPECT_EQ(fairlead_command("experiment list starpuu").exit_code, 2);
  EXPECT_THAT(fairlead_command("experiment list --quick").text, HasSubstr("--quick is for experiment run"));
}

TEST_F(Simulate, RefusesAnUnwritableLogPathBeforeTheRun) {
  const Answer answer = fairlead_command(small + "--event-log " + path("no/run.log"));
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text, HasSubstr("no/run.log"));
  EXPECT_THAT(answer.text, Not(HasSubstr("GFlop/s")));
}

// A variable of the environment may be meant for other runs.
TEST_F(Simulate, ReadsTheEnvironmentVariablesOfRealRuns) {
  const Answer answer = fairlead_command(small, "FAIRLEAD_WORKERS=3 FAIRLEAD_DISK_THREADS=2");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
}

TEST_F(Simulate, HelpListsAcceptedOptions) {
  const std::string help = fairlead_command("help --all simulate").text;
  EXPECT_THAT(help, HasSubstr("memory limit of each device, or of RAM"));
  EXPECT_THAT(help, HasSubstr("--event-log FILE"));
  for (const char* other : {"\n  --disk-threads", "\n  --blas", "\n  --record-flow", "\nKernels:"})
    EXPECT_THAT(help, Not(HasSubstr(other)));
}

// With a limit of RAM, data start on the disk.
TEST_F(Simulate, StoresDataOnDiskIfRamIsLimited) {
  const std::string cores = "simulate cholesky --n 9600 --tile 960 --machine epyc-7642 ";
  const auto table = [](const std::string& text) { return text.substr(0, text.rfind("darts") + 60); };
  EXPECT_EQ(table(fairlead_command(cores + "--host-memory 100MB").text),
            table(fairlead_command(cores + "--memory 100MB").text));
}

// The same tasks in each form: one policy for which their order does not matter takes as long, and moves as
// much.
TEST_F(Simulate, ExpressesAWorkloadAsAFlowOrAGraph) {
  const auto figures = [&](const std::string& workload, const std::string& front) {
    const Answer answer = fairlead_command("simulate " + workload +
                                           " --n 9600 --tile 960 --machine k40 --gpus 1 --scheduler eager "
                                           "--front " +
                                           front + " --json " + path(front + ".json"));
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(front == "ptg"   ? "as a parameterized graph"
                                       : front == "jdf" ? "as JDF"
                                                        : "n = 9600"));
    std::ifstream stream(path(front + ".json"));
    const auto rows = nlohmann::json::parse(stream);
    return rows.at(0);
  };
  for (const char* workload : {"cholesky", "lu", "gemm"}) {
    const auto flow = figures(workload, "flow");
    for (const char* front : {"ptg", "jdf"}) {
      const auto graph = figures(workload, front);
      for (const char* same : {"tasks", "gflops_at_best", "bytes_to_devices", "bytes_from_devices"})
        EXPECT_EQ(flow.at(same), graph.at(same)) << workload << ", " << front << ", " << same;
    }
  }
  EXPECT_THAT(fairlead_command("simulate qr --front ptg").text, HasSubstr("no parameterized graph"));
  EXPECT_THAT(fairlead_command("simulate qr --front jdf").text, HasSubstr("no JDF file for qr"));
}

}  // namespace
}  // namespace fairlead
