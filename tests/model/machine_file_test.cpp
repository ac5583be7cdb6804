// The measurements of a machine that are kept between runs: concurrent processes lose nothing, and an invalid file is
// reported, replaced, and never used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fairlead/error.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/codelets.hpp"
#include "model/machine_file.hpp"
#include "temporary_directory.hpp"

namespace fairlead {

using model::DurationRecord;
using model::KeptDurations;
using model::MachineFile;
using model::MachineMeasurements;
using testing::HasSubstr;
using tests::data_of;

namespace {

constexpr std::int32_t today = 20'777;  // 2026-11-20

DurationRecord duration(const std::string& codelet, std::int64_t ns, std::uint64_t size = 1000) {
  DurationRecord kept{codelet, WorkerKind::cpu, "", "", WorkUnit::none, data_of({size}).hash(), size, 10, {},
                      0};
  kept.quantiles_ns.fill(ns);
  return kept;
}

class MachineFileTest : public testing::Test {
 protected:
  MachineFile file(const std::string& machine = "node7: a processor, 4 cores") const {
    return {directory / "cache", machine};
  }
  std::string text() const {
    std::ifstream stream(file().path());
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& text) const {
    std::filesystem::create_directories(directory / "cache");
    std::ofstream(file().path()) << text;
  }
  const tests::TemporaryDirectory directory;
};

}  // namespace

TEST_F(MachineFileTest, IsEmptyWithoutAnErrorIfTheFileIsMissing) {
  const MachineMeasurements facts = file().load();
  EXPECT_TRUE(facts.durations.empty());
  EXPECT_EQ(facts.problem, "");
}

TEST_F(MachineFileTest, ReturnsTheRecordsThatWereAdded) {
  DurationRecord flops = duration("gemm", 5'000'000);
  flops.kind = WorkerKind::emulated;
  flops.processor = "0.5 of a core";
  flops.implementation = "blas, two threads";
  flops.unit = WorkUnit::flops;
  file().add({duration("gemm", 7'000'000), flops}, {}, today);
  file().put(
      {{"disk", "RAM", "ext4 at /scratch", 3'000'000'000, 2'000'000'000, 2'500'000'000, 90'000, today}});
  const MachineMeasurements facts = file().load();
  EXPECT_EQ(facts.problem, "");
  flops.day = today;
  DurationRecord plain = duration("gemm", 7'000'000);
  plain.day = today;
  EXPECT_EQ(facts.durations, (KeptDurations{plain, flops}));
  ASSERT_EQ(facts.links.size(), 1u);
  EXPECT_EQ(facts.links[0].place, "ext4 at /scratch");
  EXPECT_EQ(facts.links[0].latency_ns, 90'000);
}

TEST_F(MachineFileTest, IsReadableText) {
  file().add({duration("gemm", 7'000'000)}, {}, today);
  EXPECT_THAT(text(), HasSubstr("fairlead-machine\t2\tHow fast this machine is"));
  EXPECT_THAT(text(), HasSubstr("\nmachine\tnode7: a processor, 4 cores\n"));
  EXPECT_THAT(text(), HasSubstr("\nduration\tgemm\tcpu\t\t\tbytes\t1000\t"));
  EXPECT_THAT(text(), HasSubstr("\t10\t2026-11-20\t7000000\t"));
}

// A process reads the file, measures, and adds records; another process did the same in the meantime.
TEST_F(MachineFileTest, KeepsTheRecordsOfTwoConcurrentProcesses) {
  file().add({duration("gemm", 1000)}, {}, today);
  const KeptDurations start = file().load().durations;
  file().add({duration("gemm", 2000), duration("trsm", 50)}, start, today);
  file().add({duration("gemm", 4000), duration("potrf", 60)}, start, today);
  const KeptDurations now = file().load().durations;
  ASSERT_EQ(now.size(), 3u);
  EXPECT_EQ(now[0].codelet, "gemm");
  EXPECT_EQ(now[0].tasks, 30u);
  EXPECT_EQ(now[0].quantiles_ns, (model::Quantiles{2000, 2000, 2000, 2000, 4000, 4000, 4000, 4000}));
}

TEST_F(MachineFileTest, LosesNoRecordWithManyConcurrentProcesses) {
  constexpr int processes = 8, times = 20;
  std::vector<pid_t> children;
  for (int child = 0; child < processes; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int i = 0; i < times; ++i)
        file().add({duration("codelet " + std::to_string(child * times + i), 1000)}, {}, today);
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(file().load().durations.size(), static_cast<std::size_t>(processes * times));
}

TEST_F(MachineFileTest, ReportsAndReplacesADamagedFile) {
  file().add({duration("gemm", 1000)}, {}, today);
  std::string damaged = text();
  damaged[damaged.find("gemm")] = 'f';
  write(damaged);
  const MachineMeasurements facts = file().load();
  EXPECT_TRUE(facts.durations.empty());
  EXPECT_THAT(facts.problem, HasSubstr("is damaged: its contents do not match the checksum at its end"));
  EXPECT_THAT(facts.problem, HasSubstr("what this run learns takes its place"));
  file().add({duration("trsm", 1000)}, {}, today);
  EXPECT_EQ(file().load().problem, "");
  EXPECT_EQ(file().load().durations.size(), 1u);
}

TEST_F(MachineFileTest, RejectsATruncatedFile) {
  file().add({duration("gemm", 1000), duration("trsm", 2000)}, {}, today);
  const std::string whole = text();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    const MachineMeasurements facts = file().load();
    EXPECT_NE(facts.problem, "") << "cut off after " << size;
    EXPECT_TRUE(facts.durations.empty());
  }
}

TEST_F(MachineFileTest, ReportsAndReplacesAnOlderVersion) {
  write("fairlead-machine\t0\tof old\n");
  EXPECT_THAT(file().load().problem, HasSubstr("is of version 0, while this program has version 2"));
  file().add({duration("gemm", 1000)}, {}, today);
  EXPECT_EQ(file().load().durations.size(), 1u);
}

// Format 1: codelets had one body for each kind of worker, with a number and no name.
TEST_F(MachineFileTest, ReadsAFileFromBeforeBodiesHadNames) {
  const SharedFile raw(file().path(), {"fairlead-machine", 1, "x"});
  std::filesystem::create_directories(directory / "cache");
  raw.replace({"machine\tnode7: a processor, 4 cores",
               "duration\tgemm\tcpu\t\t0\tbytes\t1000\t00000000000000ff\t10\t2026-11-20"
               "\t1\t2\t3\t4\t5\t6\t7\t8"});
  const MachineMeasurements facts = file().load();
  EXPECT_EQ(facts.problem, "");
  ASSERT_EQ(facts.durations.size(), 1u);
  EXPECT_EQ(facts.durations[0].implementation, "");
  EXPECT_EQ(facts.durations[0].quantiles_ns.back(), 8);
  file().add({duration("trsm", 1000)}, {}, today);
  EXPECT_THAT(text(), HasSubstr("fairlead-machine\t2\t"));
  EXPECT_EQ(file().load().durations.size(), 2u);
}

// An older Fairlead must not overwrite the file of a newer one of the same user.
TEST_F(MachineFileTest, LeavesANewerVersionAlone) {
  const std::string newer = "fairlead-machine\t7\tof the future\n";
  write(newer);
  EXPECT_THAT(file().load().problem, HasSubstr("left as it is"));
  file().add({duration("gemm", 1000)}, {}, today);
  EXPECT_THROW(file().put({}), SystemError);
  EXPECT_EQ(text(), newer);
}

TEST_F(MachineFileTest, RejectsAFileOfAnotherMachine) {
  file().add({duration("gemm", 1000)}, {}, today);
  const MachineFile other = file("node8: a processor, 4 cores");
  EXPECT_NE(other.path(), file().path());
  std::filesystem::copy(file().path(), other.path());
  EXPECT_THAT(other.load().problem, HasSubstr("is about another machine"));
}

TEST_F(MachineFileTest, RejectsAFileOfAnotherFormat) {
  write("#!/bin/sh\nrm -rf /\n");
  EXPECT_THAT(file().load().problem, HasSubstr("is not a file of Fairlead"));
  std::filesystem::remove(file().path());
  std::filesystem::create_directory(file().path());
  EXPECT_THAT(file().load().problem, HasSubstr("cannot be read: Is a directory"));
  EXPECT_THROW(file().add({duration("gemm", 1000)}, {}, today), SystemError);
}

// The checksum is valid, the content is not.
TEST_F(MachineFileTest, RejectsInvalidLines) {
  const SharedFile raw(file().path(), {"fairlead-machine", 2, "x"});
  std::filesystem::create_directories(directory / "cache");
  const std::string machine = "machine\tnode7: a processor, 4 cores";
  const std::string good =
      "duration\tgemm\tcpu\t\t0\tbytes\t1000\t00000000000000ff\t10\t2026-11-20\t1\t2\t3\t4\t5\t6\t7\t8";
  raw.replace({machine, good});
  EXPECT_EQ(file().load().problem, "");
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"cpu", "abacus"},
                                                                                 {"bytes", "miles"},
                                                                                 {"1000", "-1"},
                                                                                 {"2026-11-20", "2026-13-40"},
                                                                                 {"2026-11-20", "soon"},
                                                                                 {"\t8", "\t0"},
                                                                                 {"\t8", ""},
                                                                                 {"\t8", "\t8\t9"},
                                                                                 {"duration\t", "duration"},
                                                                                 {"\t7\t", "\t7e99\t"}}) {
    std::string bad = good;
    bad.replace(bad.rfind(from), from.size(), to);
    raw.replace({machine, bad});
    EXPECT_THAT(file().load().problem, HasSubstr("has a line 3 that means nothing")) << bad;
    EXPECT_TRUE(file().load().durations.empty());
  }
}

TEST_F(MachineFileTest, NeedNotBeWrittenAfterAShortRunOfKnownTasks) {
  const KeptDurations known{duration("gemm", 1'000'000), duration("potrf", 2'000'000)};  // ten tasks each
  EXPECT_FALSE(MachineFile::is_worth_writing({}, known));
  EXPECT_FALSE(MachineFile::is_worth_writing(known, known));  // 30 ms
  EXPECT_TRUE(MachineFile::is_worth_writing({duration("trsm", 1)}, known));
  EXPECT_TRUE(MachineFile::is_worth_writing({duration("gemm", 1'000'000, 2000)}, known)) << "another size";
  EXPECT_TRUE(MachineFile::is_worth_writing({duration("gemm", 11'000'000)}, known)) << "110 ms";
}

TEST_F(MachineFileTest, DropsTheOldestRecordsWhenThereAreTooMany) {
  KeptDurations many;
  for (std::size_t i = 0; i < MachineFile::most_durations; ++i)
    many.push_back(duration("old " + std::to_string(i), 1000));
  std::ranges::sort(many, {}, &DurationRecord::key);
  file().add(many, {}, today);
  file().add({duration("new", 1000)}, {}, today + 1);
  const KeptDurations kept = file().load().durations;
  EXPECT_EQ(kept.size(), MachineFile::most_durations);
  EXPECT_EQ(kept.front().codelet, "new");
}

TEST_F(MachineFileTest, SkipsNamesThatWouldCorruptTheFile) {
  DurationRecord named_badly = duration("fine", 1);
  named_badly.implementation = "a\tb";
  file().add({duration("a\tb", 1), duration("c\nd", 1), duration(std::string(5000, 'x'), 1), named_badly,
              duration("good", 1)},
             {}, today);
  EXPECT_EQ(file().load().problem, "");
  EXPECT_EQ(file().load().durations.size(), 1u);
}

// As on a full disk: the caller may reduce the error to a warning; the old content is unchanged.
TEST_F(MachineFileTest, NamesTheFileThatCannotBeWritten) {
  std::ofstream(directory / "cache") << "a file where the directory should be";
  try {
    file().add({duration("gemm", 1000)}, {}, today);
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr((directory / "cache").string()));
  }
  EXPECT_EQ(file().load().problem, "");
}

// A disk with ten free bytes: the old content is unchanged, and no temporary file remains.
TEST_F(MachineFileTest, KeepsTheOldFileIfTheDiskIsFull) {
  file().add({duration("gemm", 1000)}, {}, today);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit ten_bytes{10, 10};
    setrlimit(RLIMIT_FSIZE, &ten_bytes);
    try {
      file().add({duration("trsm", 1000)}, {}, today);
    } catch (const SystemError&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(file().load().durations.size(), 1u);
  for (const auto& entry : std::filesystem::directory_iterator(directory / "cache"))
    EXPECT_THAT(entry.path().extension().string(), testing::AnyOf(".txt", ".lock"));
}

// ---- links

TEST(Links, AreUsedOnTheDiskWhereTheyWereMeasured) {
  Topology topology = out_of_core_topology(1, 1 << 20, 1e9, Duration(1));
  const model::KeptLinks kept{{"disk", "RAM", "ext4 at /a", 3'000'000'000, 2'000'000'000, 0, 90'000, 0}};
  const auto place = [](const Topology& all, const LinkSpec& link) {
    return all.nodes[index(link.first)].name == "disk" ? std::string("ext4 at /a") : std::string();
  };
  const Bandwidth memory_before = topology.links[0].bytes_per_second;
  model::use_measured(topology, kept, place);
  EXPECT_EQ(topology.links[0].bytes_per_second, memory_before);
  EXPECT_EQ(topology.links[1].bytes_per_second, Bandwidth(3e9, 2e9));
  EXPECT_EQ(topology.links[1].latency.count(), 90'000);
}

TEST(Links, OfAnotherDiskAreNotUsed) {
  Topology topology = out_of_core_topology(1, 1 << 20, 1e9, Duration(1));
  const model::KeptLinks kept{{"disk", "RAM", "ext4 at /a", 3'000'000'000, 2'000'000'000, 0, 90'000, 0}};
  model::use_measured(topology, kept,
                      [](const Topology&, const LinkSpec&) { return std::string("nfs at /b"); });
  EXPECT_EQ(topology.links[1].bytes_per_second, 1e9);
}

// Kept as device - RAM; the topology's link is RAM - device.
TEST(Links, GiveTheirBandwidthsInEitherOrder) {
  Topology topology;
  topology.nodes = {{.name = "RAM", .role = NodeRole::home}, {.name = "device 0", .role = NodeRole::cache}};
  topology.links = {{.name = "bus", .first = NodeId{0}, .second = NodeId{1}}};
  const auto nowhere = [](const Topology&, const LinkSpec&) { return std::string(); };
  model::use_measured(topology, {{"device 0", "RAM", "", 6'000'000'000, 12'000'000'000, 0, 5, 0}}, nowhere);
  EXPECT_EQ(topology.links[0].bytes_per_second, Bandwidth(12e9, 6e9));
  model::use_measured(topology, {{"RAM", "device 0", "", 13'000'000'000, 6'000'000'000, 0, 5, 0}}, nowhere);
  EXPECT_EQ(topology.links[0].bytes_per_second, Bandwidth(13e9, 6e9));
}

}  // namespace fairlead
