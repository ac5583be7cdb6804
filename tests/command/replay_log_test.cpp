// `fairlead replay-log` reports whether a log gives the commands of its run, and errors of the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "command/answer.hpp"
#include "engine/log/log_records.hpp"

namespace fairlead {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReplayLog : public testing::Test {
 protected:
  /// The log of a Cholesky factorization with evictions.
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    const Answer answer = fairlead_command(
        "simulate cholesky --n 9600 --tile 960 --machine k40 --memory 60MB --scheduler lws --noise 5 "
        "--event-log " +
        log_ + " --json " + path("run.json"));
    ASSERT_EQ(answer.exit_code, 0) << answer.text;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Answer replay() const { return fairlead_command("replay-log " + log_); }
  void expect_refused(const std::string& why, int exit_code = 1) const {
    const Answer answer = replay();
    EXPECT_EQ(answer.exit_code, exit_code) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(why));
    EXPECT_THAT(answer.text, Not(HasSubstr("the same")));
  }
  /// Writes the log with other contents in the valid format.
  template <class Change>
  void change(Change&& how) const {
    engine::LogFile log = engine::EventLog::read(log_);
    auto records = tests::records_of(log.words);
    how(log.head, records);
    engine::EventLog::write(log_, log.head, tests::words_of(records));
  }
  std::string bytes() const {
    std::ifstream file(log_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) const { std::ofstream(log_, std::ios::binary) << bytes; }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-replay-log-" + std::to_string(getpid()));
  std::string log_ = path("run.log");
};

TEST_F(ReplayLog, ConfirmsThatTheSameCommandsFollow) {
  const Answer answer = replay();
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("events under lws"));
  EXPECT_THAT(answer.text, HasSubstr("commands follow as in the run"));
  std::ifstream stream(path("run.json"));
  const std::string digest = nlohmann::json::parse(stream)[0]["command_digest"];
  EXPECT_THAT(answer.text, HasSubstr(digest));
}

// With data of twice the size fewer tasks are admitted at once.
TEST_F(ReplayLog, NamesTheFirstEventWithDifferentCommands) {
  change([](engine::LogHead&, std::vector<tests::LogRecord>& records) {
    for (auto& record : records)
      if (record.kind() == tests::LogRecord::Kind::datum) record.words[1] *= 2;  // its bytes
  });
  expect_refused("after event ");
  expect_refused("this engine differs from that of the run: it ");
}

TEST_F(ReplayLog, NamesAnImpossibleEvent) {
  change([](engine::LogHead&, std::vector<tests::LogRecord>& records) {
    const auto found = std::find_if(records.begin(), records.end(), [](const tests::LogRecord& record) {
      return record.is(EventKind::task_finished);
    });
    found->subject() = 4711;
  });
  expect_refused("there is no task 4711");
}

TEST_F(ReplayLog, UsesThePolicyOfTheRun) {
  change([](engine::LogHead& head, auto&) { head.policy = "eager"; });
  expect_refused("this engine differs from that of the run");
  change([](engine::LogHead& head, auto&) { head.policy = "gremlin"; });
  expect_refused("under an unknown policy");
}

TEST_F(ReplayLog, OfAnOlderVersionIsReplayedAndNotCompared) {
  change([](engine::LogHead&, std::vector<tests::LogRecord>& records) {
    for (auto& record : records)
      if (record.kind() == tests::LogRecord::Kind::served) record.words[0] &= 0xff;
  });
  const Answer answer = replay();
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("lacks the digest of the run"));
}

TEST_F(ReplayLog, RefusesTruncatedLogsAndOtherVersions) {
  const std::string good = bytes();
  replace(good.substr(0, good.size() / 2 / 8 * 8));
  expect_refused("but not all of it");
  std::string other = good;
  other[good.size() / 2] = static_cast<char>(other[good.size() / 2] ^ 1);
  replace(other);
  expect_refused("its contents are damaged");
  other = good;
  other[7] = 'z';
  replace(other);
  expect_refused("of another version of Fairlead");
  replace("A text.");
  expect_refused("is not an event log");
  std::filesystem::remove(log_);
  expect_refused("No such file or directory");
}

TEST_F(ReplayLog, AcceptsOneFile) {
  const auto refused = [](const std::string& words, const std::string& why) {
    const Answer answer = fairlead_command("replay-log " + words);
    EXPECT_EQ(answer.exit_code, 2) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(why));
  };
  refused("", "missing argument FILE");
  refused(log_ + " " + log_, log_);
  refused(log_ + " --shceduler eager", "unknown option --shceduler");
  refused(log_ + " --memory 1GB", "--memory has no effect here");
}

}  // namespace
}  // namespace fairlead
