// Ranks that monitor each other by sockets, each with its thread, in one process: broken connections, silent ranks,
// connections of other programs. The test waits for notifications and does not sleep.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/failure_detector_thread.hpp"

namespace fairlead::net::tests {
namespace {

using namespace std::chrono_literals;
using How = Loss::Kind;

constexpr auto long_enough = 20s;  // until a test fails, on a machine with other load

/// The actions that were requested from the ranks of a job.
class RequestedActions {
 public:
  enum class What : std::uint8_t { report, end, cut };
  FailureDetectorThread::Actions actions_of(std::size_t rank) {
    return {.report = [this, rank](const Loss& loss) { add(What::report, rank, loss); },
            .end = [this, rank](const Loss& loss) { add(What::end, rank, loss); },
            .cut = [this, rank] { add(What::cut, rank, {}); }};
  }
  std::size_t count(What what) {
    const std::lock_guard guard(mutex_);
    return count_locked(what);
  }
  /// False: it did not happen that often.
  bool wait_for(What what, std::size_t times) {
    std::unique_lock lock(mutex_);
    return something_.wait_for(lock, long_enough, [&] { return count_locked(what) >= times; });
  }
  bool all_are(const Loss& loss) {
    const std::lock_guard guard(mutex_);
    return std::ranges::all_of(entries_,
                               [&](const auto& it) { return it.what == What::cut || it.loss == loss; });
  }
  bool nothing() {
    const std::lock_guard guard(mutex_);
    return entries_.empty();
  }

 private:
  struct Entry {
    What what;
    std::size_t rank;
    Loss loss;
  };
  void add(What what, std::size_t rank, const Loss& loss) {
    const std::lock_guard guard(mutex_);
    entries_.push_back({what, rank, loss});
    something_.notify_all();
  }
  std::size_t count_locked(What what) const {
    return static_cast<std::size_t>(std::ranges::count(entries_, what, &Entry::what));
  }
  std::mutex mutex_;
  std::condition_variable something_;
  std::vector<Entry> entries_;
};
using What = RequestedActions::What;

// ThreadSanitizer mistakes equal numbers in two descriptor tables for the same file.
#ifdef FAIRLEAD_THREAD_SANITIZED
constexpr bool own_descriptors = false;
#else
constexpr bool own_descriptors = true;
#endif

FailureDetectorThread::Options quick(bool by_network = false) {
  return {.pace = {.beat = 50ms, .timeout = 0s, .heir_timeout = long_enough},
          .fan_out = 2,
          .to_greet = long_enough,
          .grace = 100ms,
          .by_network = by_network,
          .own_descriptors = own_descriptors};
}

struct Job {
  explicit Job(std::size_t ranks, const FailureDetectorThread::Options& options = quick()) {
    std::vector<std::optional<ProcessAddress>> all;
    for (std::size_t i = 0; i < ranks; ++i) {
      lines.push_back(std::make_unique<FailureDetectorThread>(RankId{static_cast<std::uint32_t>(i)}, options,
                                                              actions.actions_of(i)));
      ProcessAddress at = lines.back()->open_locally();
      if (options.by_network) at = lines.back()->open_to_network();
      // As MPI transfers it.
      all.push_back(parse_address(text_of(at)));
      EXPECT_EQ(all.back(), at);
    }
    places = all;
    for (const auto& line : lines) line->begin(all);
    for (const auto& line : lines) EXPECT_TRUE(line->linked_within(long_enough));
  }
  ~Job() {
    for (const auto& line : lines)
      if (line) line->leave(false);
  }
  RequestedActions actions;
  std::vector<std::unique_ptr<FailureDetectorThread>> lines;
  std::vector<std::optional<ProcessAddress>> places;
};

TEST(FailureDetectorThread, ALostRankIsDetectedByAllAndReportedByOne) {
  for (const bool by_network : {false, true})
    for (std::uint32_t lost = 0; lost < 7; ++lost) {
      Job job(7, quick(by_network));
      job.lines[lost].reset();
      EXPECT_TRUE(job.actions.wait_for(What::end, 6)) << lost;
      EXPECT_TRUE(job.actions.all_are({RankId{lost}, How::gone}));
      EXPECT_EQ(job.actions.count(What::report), 1U);
    }
}

TEST(FailureDetectorThread, AForkedProcessDoesNotKeepAConnectionOpen) {
  if (!own_descriptors) GTEST_SKIP();
  Job job(3);
  const auto ends = open_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    char none = 0;
    const int end = ends[1].get();
    ::close(end);
    ::_exit(::read(ends[0].get(), &none, 1) == 0 ? 0 : 1);  // until the other process closes it
  }
  job.lines[2].reset();
  EXPECT_TRUE(job.actions.wait_for(What::end, 2));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0);  // it still runs
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
}

TEST(FailureDetectorThread, ARankThatRunsAfterTheGracePeriodIsCutOff) {
  Job job(3);
  job.lines[1].reset();
  EXPECT_TRUE(job.actions.wait_for(What::cut, 2));
}

TEST(FailureDetectorThread, ARankThatLeavesIsLostOnlyIfItIsNeeded) {
  Job job(7);
  for (const std::size_t i : {1U, 0U, 6U}) job.lines[i]->leave(false);
  job.lines[5]->leave(true);  // its parent, 2, has 5 and 6
  EXPECT_TRUE(job.actions.wait_for(What::end, 1));
  EXPECT_TRUE(job.actions.all_are({RankId{5}, How::left}));
}

TEST(FailureDetectorThread, ARankThatFailsIsLostUnlessItLeavesBefore) {
  Job job(7);
  job.lines[6]->give_up(How::left, 1h);
  job.lines[6]->leave(false);
  job.lines[4]->give_up(How::failed, 1h);
  job.lines[5]->give_up(How::left, 10ms);
  EXPECT_TRUE(job.actions.wait_for(What::end, 5));
  EXPECT_TRUE(job.actions.all_are({RankId{5}, How::left}));
  EXPECT_EQ(job.actions.count(What::report), 1U);
}

TEST(FailureDetectorThread, ANeededRankThatLeavesFailsAtOnce) {
  Job job(3);
  job.lines[2]->give_up(How::failed, 1h);
  job.lines[2]->leave(true);
  EXPECT_TRUE(job.actions.wait_for(What::end, 2));
  EXPECT_TRUE(job.actions.all_are({RankId{2}, How::failed}));
}

TEST(FailureDetectorThread, AnUnreachableParentOnAnotherMachineIsNotLost) {
  RequestedActions actions;
  FailureDetectorThread line(RankId{1}, quick(), actions.actions_of(1));
  ProcessAddress parent = own_address();
  parent.machine = "another";
  parent.addresses = {"127.0.0.1"};  // where no process listens
  parent.port = 1;
  parent.token = Token{};
  line.begin({parent, line.open_locally()});
  EXPECT_FALSE(line.linked_within(long_enough));
  line.drop_unconnected([](RankId rank) { return rank == RankId{0}; });
  line.leave(false);
  EXPECT_TRUE(actions.nothing());
}

TEST(FailureDetectorThread, ARankWithoutASocketExpectsNoConnection) {
  RequestedActions actions;
  FailureDetectorThread parent(RankId{0}, quick(), actions.actions_of(0)),
      line(RankId{1}, quick(), actions.actions_of(1));
  std::vector<std::optional<ProcessAddress>> all{parent.open_locally(), std::nullopt};
  line.begin(all);
  parent.begin(all);
  EXPECT_FALSE(line.linked_within(1h));  // and it does not wait for one
  line.leave(true);
  parent.leave(false);
  EXPECT_TRUE(actions.nothing());
}

/// A rank that the test simulates.
class Played {
 public:
  Played(const Job& job, std::uint32_t rank, std::uint32_t parent, const Token& token)
      : link_(RankId{rank}, RankId{parent}, *job.places[parent], true, token, 0s), token_(token) {}
  /// Waits until the peer sends a message or closes. True if it sent this message.
  bool heard(MonitorMessage::Kind kind) {
    std::vector<MonitorMessage> come;
    for (;;) {
      pollfd polled = link_.wanted();
      if (::poll(&polled, 1, 20'000) <= 0) return false;
      const bool stays = link_.go_on(polled.revents, token_, 9, 0s, come);
      if (std::ranges::find(come, kind, &MonitorMessage::kind) != come.end()) return true;
      if (!stays) return false;
    }
  }
  void say(const MonitorMessage& word) { link_.say(word); }

 private:
  MonitorConnection link_;
  Token token_;
};

TEST(FailureDetectorThread, ASilentRankIsLostAfterTheTimeout) {
  FailureDetectorThread::Options options = quick();
  options.pace.timeout = 400ms;
  RequestedActions actions;
  FailureDetectorThread first(RankId{0}, options, actions.actions_of(0));
  std::vector<std::optional<ProcessAddress>> all{first.open_locally(), own_address()};
  first.begin(all);
  MonitorConnection other(RankId{1}, RankId{0}, *all[0], true, *all[0]->token, 0s);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(actions.wait_for(What::end, 1));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 350ms);
  EXPECT_TRUE(actions.all_are({RankId{1}, How::silent}));
}

TEST(FailureDetectorThread, ConnectionsOfOtherProgramsAreClosed) {
  FailureDetectorThread::Options options = quick();
  options.to_greet = 1s;
  Job job(2, options);
  Token wrong = *job.places[0]->token;
  wrong[15] ^= std::byte{1};
  EXPECT_FALSE(Played(job, 1, 0, wrong).heard(MonitorMessage::Kind::heartbeat));
  EXPECT_FALSE(Played(job, 9, 0, *job.places[0]->token)
                   .heard(MonitorMessage::Kind::heartbeat));  // there is no such rank
  EXPECT_FALSE(Played(job, 1, 0, *job.places[0]->token)
                   .heard(MonitorMessage::Kind::heartbeat));  // it is already connected
  // A silent connection is kept for a short time only, and many of them do not block others.
  std::vector<FileDescriptor> silent;
  sockaddr_storage address{};
  auto& local = reinterpret_cast<sockaddr_un&>(address);
  local.sun_family = AF_UNIX;
  std::ranges::copy(job.places[0]->local, local.sun_path + 1);
  const auto bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + job.places[0]->local.size());
  for (int i = 0; i < 100; ++i) {
    silent.push_back(open_socket(AF_UNIX, SOCK_STREAM));
    ASSERT_EQ(::connect(silent.back().get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  }
  for (const FileDescriptor& it : silent) {
    char none = 0;
    EXPECT_EQ(::recv(it.get(), &none, 1, 0), 0);  // closed by the other end
  }
  EXPECT_TRUE(job.actions.nothing());
}

}  // namespace
}  // namespace fairlead::net::tests
