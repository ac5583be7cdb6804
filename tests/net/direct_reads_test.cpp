// Reads of another process's memory: a value is read only while its mark is set, and never from a process that has ended
// or is not the expected one.
#include "net/direct_reads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fairlead::net {
namespace {

/// A rank in a process of its own, which executes commands of one letter and replies with a text.
class OtherRank {
 public:
  OtherRank() {
    if (::pipe(to_.data()) != 0 || ::pipe(from_.data()) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) be();
    ::close(to_[0]);
    ::close(from_[1]);
  }
  ~OtherRank() {
    ::close(to_[1]);
    ::close(from_[0]);
    if (process_ != 0) ::waitpid(process_, nullptr, 0);
  }
  std::string asked(char what) {
    if (::write(to_[1], &what, 1) != 1) return {};
    std::array<char, 512> answer{};
    const ssize_t count = ::read(from_[0], answer.data(), answer.size());
    return {answer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  void end() {
    asked('e');
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  [[noreturn]] void be() {
    ::close(to_[1]);
    const DirectReads own(RankId{1});
    std::vector<std::uint64_t> value(100000);
    std::iota(value.begin(), value.end(), 7);
    std::uint64_t mark = own.first_mark();
    for (char what = 0; ::read(to_[0], &what, 1) == 1;) {
      std::string answer = "done";
      if (what == 'i') answer = own.introduction();
      if (what == 'v')
        answer = std::to_string(reinterpret_cast<std::uintptr_t>(value.data())) + " " +
                 std::to_string(reinterpret_cast<std::uintptr_t>(&mark)) + " " + std::to_string(mark);
      if (what == 'm') mark = 0;
      if (what == 'e') ::_exit(0);
      if (::write(from_[1], answer.data(), answer.size()) < 0) ::_exit(1);
    }
    ::_exit(0);
  }
  std::array<int, 2> to_{}, from_{};
  pid_t process_ = 0;
};

TEST(DirectReads, SucceedWhileTheMarkIsSet) {
  OtherRank other;
  DirectReads own(RankId{0});
  const std::string tried = own.probe({own.introduction(), other.asked('i')});
  if (tried.find(" 1") == std::string::npos) GTEST_SKIP() << "this system forbids it: " << tried;
  own.set_results({tried, "1 0 0"});
  EXPECT_EQ(own.why_not_read(), "");
  EXPECT_EQ(own.read_by(), (std::vector<bool>{false, true}));

  std::vector<std::uint64_t> place(100000);
  DirectReads::Part part{.from = RankId{1}, .place = place.data(), .bytes = place.size() * 8};
  const std::string answer = other.asked('v');
  ASSERT_EQ(std::sscanf(answer.c_str(), "%lu %lu %lu", &part.address, &part.mark_at, &part.mark), 3);
  ASSERT_TRUE(own.read(part));
  for (std::size_t i = 0; i < place.size(); ++i) ASSERT_EQ(place[i], i + 7);

  DirectReads::Part nowhere = part;
  nowhere.address = 8;
  EXPECT_FALSE(own.read(nowhere));
  DirectReads::Part beyond = part;  // partly mapped
  beyond.bytes = std::uint64_t{1} << 40;
  beyond.place = nullptr;
  EXPECT_FALSE(own.read(beyond));
  DirectReads::Part stranger = part;
  stranger.from = RankId{7};
  EXPECT_FALSE(own.read(stranger));

  other.asked('m');
  EXPECT_FALSE(own.read(part)) << "the memory may have been reused";
  other.end();
  EXPECT_FALSE(own.read(part));
}

TEST(DirectReads, DoNotReadAnUnexpectedProcess) {
  OtherRank other, stranger;
  DirectReads own(RankId{0});
  std::string introduction = other.asked('i');
  const std::string that = stranger.asked('i');
  // As if two ranks had different process ids for the same process: another process's id with the peer's own description.
  const auto word = [](const std::string& text, int k) {
    std::istringstream words(text);
    std::string found;
    for (int i = 0; i <= k; ++i) words >> found;
    return found;
  };
  introduction =
      word(that, 0) + " " + word(that, 1) + " " + word(introduction, 2) + " " + word(introduction, 3);
  const std::string tried = own.probe({own.introduction(), introduction});
  EXPECT_EQ(tried.find(" 1"), std::string::npos) << tried;
  own.set_results({tried, "1 1"});
  EXPECT_EQ(own.read_by(), (std::vector<bool>{false, false}));
  EXPECT_NE(own.why_not_read().find("ranks of one machine may not read each other's memory ("),
            std::string::npos)
      << own.why_not_read();
  EXPECT_FALSE(own.read({.from = RankId{1}}));
}

TEST(DirectReads, AreNotTriedOnOtherMachines) {
  DirectReads own(RankId{1});
  std::string elsewhere = own.introduction();
  elsewhere.insert(0, "elsewhere-");
  EXPECT_EQ(own.probe({elsewhere, own.introduction(), "nonsense", ""}), "0 0");
  own.set_results({"0 0", "0 0", "0 0", "0 0"});
  EXPECT_EQ(own.why_not_read(), "");
}

TEST(DirectReads, ReportHowManyPairsOfRanksCannotRead) {
  DirectReads own(RankId{2});
  own.set_results({"2 0 1 2", "2 1 2", "2 0 0 1"});
  EXPECT_EQ(own.read_by(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(own.why_not_read(),
            "ranks of one machine may not read each other's memory, 1 of 6 pairs of them (Operation not "
            "permitted)");
}

}  // namespace
}  // namespace fairlead::net
