// Event logs as files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/event_log.hpp"

namespace fairlead::engine {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class LogFiles : public testing::Test {
 protected:
  LogFiles() {
    log_.horizon_closed();
    log_.all_submitted();
    log_.cancellation(3);
    log_.datum({.bytes = 100, .home = NodeId{1}, .home_offset = 4096, .coordinates = {1, -1, 3}});
    log_.served(7);
    log_.write(path_, head_);
  }
  ~LogFiles() override { std::filesystem::remove_all(directory_); }

  static std::filesystem::path made() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead_log_XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  std::string contents() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  std::filesystem::path directory_ = made();
  std::string path_ = directory_ / "run.log";
  EventLog log_;
  const LogHead head_{"darts-defer",
                      11,
                      5,
                      true,
                      true,
                      true,
                      3,
                      true,
                      out_of_core_topology(2, Bytes{3} << 30, 2.5e9, Duration(1000)),
                      {{"gemm",
                        WorkerKind::emulated,
                        "0.5 of a core",
                        "blas",
                        WorkUnit::flops,
                        77,
                        1000,
                        20,
                        {1, 2, 3, 4, 5, 6, 7, 8},
                        0}}};
};

}  // namespace

TEST_F(LogFiles, AreReadAsTheyWereWritten) {
  EXPECT_EQ(EventLog::read(path_).words, log_.words());
  EXPECT_EQ(log_.words().size(), 9u);
  EventLog empty;
  empty.write(path_, head_);
  EXPECT_TRUE(EventLog::read(path_).words.empty());
}

TEST_F(LogFiles, ContainTheSettingsOfTheEngine) {
  const LogHead head = EventLog::read(path_).head;
  EXPECT_EQ(head.words(), head_.words());
  EXPECT_EQ(head.policy, "darts-defer");
  EXPECT_EQ(head.seed, 11u);
  EXPECT_EQ(head.pipeline_depth, 5u);
  EXPECT_EQ(head.idle_cores, 3u);
  EXPECT_TRUE(head.first_bodies);
  EXPECT_TRUE(head.durations_known);
  ASSERT_EQ(head.topology.nodes.size(), 3u);
  EXPECT_EQ(head.topology.nodes[2].name, "RAM");
  EXPECT_EQ(head.topology.nodes[2].memory, MemoryKind::host);
  EXPECT_EQ(head.topology.nodes[2].capacity, Bytes{3} << 30);
  EXPECT_EQ(head.topology.nodes[2].directly_accessible_homes, std::vector{NodeId{0}});
  EXPECT_EQ(head.topology.workers.size(), 2u);
  EXPECT_EQ(head.topology.links.at(1).bytes_per_second, 2.5e9);
  EXPECT_EQ(head.durations, head_.durations);
}

TEST_F(LogFiles, AreRefusedIfTheirHeaderIsInvalid) {
  const std::vector<std::uint64_t> good = head_.words();
  EXPECT_EQ(LogHead::from(good).words(), good);
  for (std::size_t i = 0; i < good.size(); ++i)
    EXPECT_THROW(LogHead::from(std::span(good).first(i)), InputError) << i;
  std::vector<std::uint64_t> longer = good;
  longer.push_back(0);
  EXPECT_THROW(LogHead::from(longer), InputError);
}

TEST_F(LogFiles, AreRefusedIfAnyByteIsChanged) {
  const std::string good = contents();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    replace(bad);
    EXPECT_THROW(EventLog::read(path_), InputError) << "byte " << i;
  }
}

TEST_F(LogFiles, AreRefusedIfTheyAreTruncatedOrExtended) {
  const std::string good = contents();
  for (std::size_t size = 0; size < good.size(); ++size) {
    replace(good.substr(0, size));
    EXPECT_THROW(EventLog::read(path_), InputError) << size << " bytes";
  }
  replace(good + "12345678");
  EXPECT_THAT([&] { EventLog::read(path_); }, ThrowsMessage<InputError>(HasSubstr("not all of it")));
}

TEST_F(LogFiles, ReportAFileThatIsNotALog) {
  replace("This is a text of more than thirty-two bytes.");
  EXPECT_THAT([&] { EventLog::read(path_); },
              ThrowsMessage<InputError>("\"" + path_ + "\" is not an event log"));
}

TEST_F(LogFiles, ReportAnotherVersion) {
  std::string other = contents();
  other[7] = 'z';
  replace(other);
  EXPECT_THAT([&] { EventLog::read(path_); },
              ThrowsMessage<InputError>("\"" + path_ +
                                        "\" is an event log of another version of Fairlead: its format is "
                                        "\"z\", that of this version \"d\""));
}

TEST_F(LogFiles, ReportTheSystemsErrorIfTheyCannotBeReadOrWritten) {
  const std::string missing = directory_ / "missing" / "run.log";
  EXPECT_THAT(
      [&] { EventLog::read(missing); },
      ThrowsMessage<SystemError>("cannot read the event log \"" + missing + "\": No such file or directory"));
  EXPECT_THAT([&] { log_.write(missing, head_); },
              ThrowsMessage<SystemError>(testing::AllOf(testing::HasSubstr(missing + ": cannot make a file"),
                                                        testing::HasSubstr("No such file or directory"))));
  EXPECT_THROW(EventLog::read(directory_), SystemError);
}

}  // namespace fairlead::engine
