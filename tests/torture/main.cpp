// Runs campaigns as tests: every run from its own seed, a failure with the command that repeats it.
//
//   test_torture [--seed N] [--long] [--only RUN] [--runs N] [--gtest_filter=Torture.NAME]
//
// --seed: another one than the default; "fresh": by the clock. --long: many runs. --only: one run, with a
// description.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "torture/campaign.hpp"

namespace fairlead::torture {
namespace {

using Clock = std::chrono::steady_clock;

struct Asked {
  std::string program;
  std::uint64_t seed = 20261121;
  bool at_length = false;
  std::optional<std::uint64_t> only, runs;
};

// For the signal handler: the command that repeats the current run.
char again[1024];

extern "C" void tell_and_die(int number) {
  constexpr char text[] = "\nThe test program crashed. Again by:\n  ";
  [[maybe_unused]] ssize_t ignored = ::write(2, text, sizeof text - 1);
  ignored = ::write(2, again, std::strlen(again));
  ignored = ::write(2, "\n", 1);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Ends the program if a run hangs.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit) : limit_(limit), thread_([this] { watch(); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void begin_run() {
    const std::lock_guard lock(mutex_);
    ++run_;
    changed_.notify_all();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_)
      if (const auto seen = run_; !changed_.wait_for(lock, limit_, [&] { return over_ || run_ != seen; })) {
        std::fprintf(stderr, "\nA run has not ended for %lld s. Again by:\n  %s\n",
                     static_cast<long long>(limit_.count()), again);
        std::abort();
      }
  }

  const std::chrono::seconds limit_;
  std::mutex mutex_;  // guards the two below
  std::uint64_t run_ = 0;
  bool over_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the others
};

/// The seed of one run: different for each run of each campaign and seed.
Random random_of(const Asked& asked, const std::string& campaign, std::uint64_t index) {
  std::uint64_t state = Random::mix(asked.seed);
  for (const char c : campaign) state = Random::mix(state ^ static_cast<unsigned char>(c));
  return Random(Random::mix(state ^ (index + 1)));
}

class CampaignTest : public testing::Test {
 public:
  CampaignTest(CampaignEntry entry, const Asked& asked) : entry_(std::move(entry)), asked_(asked) {}

  void TestBody() override {
    const std::uint64_t runs = asked_.runs.value_or(asked_.at_length ? entry_.runs_at_length : entry_.runs);
    std::printf("%s: seed %llu, %llu runs\n", entry_.name.c_str(),
                static_cast<unsigned long long>(asked_.seed),
                static_cast<unsigned long long>(asked_.only ? 1 : runs));
    std::fflush(stdout);
    const auto campaign = entry_.make();
    Watchdog watchdog(entry_.hangs_after);
    const auto began = Clock::now();
    int failures = 0;
    for (std::uint64_t i = asked_.only.value_or(0); i < (asked_.only ? *asked_.only + 1 : runs); ++i) {
      const std::string command = fmt::format("{} --gtest_filter=Torture.{} --seed {} --only {}",
                                              asked_.program, entry_.name, asked_.seed, i);
      std::snprintf(again, sizeof again, "%s", command.c_str());
      watchdog.begin_run();
      torture::Run run{random_of(asked_, entry_.name, i), i, asked_.only.has_value()};
      try {
        campaign->run(run);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << '\n' << run.description << "Again by:\n  " << command;
        if (++failures == 20) {
          ADD_FAILURE() << "given up after twenty failures, at run " << i << " of " << runs;
          break;
        }
      }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    try {
      std::printf("%s; %.1f s\n", campaign->summary(asked_.only ? 1 : runs).c_str(), seconds);
    } catch (const Wrong& wrong) {
      ADD_FAILURE() << wrong.what() << "\nAgain by:\n  " << asked_.program << " --gtest_filter=Torture."
                    << entry_.name << " --seed " << asked_.seed << (asked_.at_length ? " --long" : "");
    }
    std::fflush(stdout);
  }

 private:
  const CampaignEntry entry_;
  const Asked& asked_;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

/// False for an unknown option.
bool read_arguments(int argc, char** argv, Asked& asked) {
  asked.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--long") {
      asked.at_length = true;
      continue;
    }
    if (++i == argc) return false;
    const bool fresh = option == "--seed" && std::string_view(argv[i]) == "fresh";
    const auto value =
        fresh ? std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'000 : number(argv[i]);
    if (!value) return false;
    if (option == "--seed")
      asked.seed = static_cast<std::uint64_t>(*value);
    else if (option == "--only")
      asked.only = value;
    else if (option == "--runs")
      asked.runs = value;
    else
      return false;
  }
  return true;
}

}  // namespace
}  // namespace fairlead::torture

int main(int argc, char** argv) {
  using namespace fairlead::torture;
  testing::InitGoogleTest(&argc, argv);
  Asked asked;
  if (!read_arguments(argc, argv, asked)) {
    std::fprintf(stderr, "usage: %s [--seed N|fresh] [--long] [--only RUN] [--runs N]\n", argv[0]);
    return 2;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(number, tell_and_die);
  for (const CampaignEntry& entry : campaigns())
    testing::RegisterTest("Torture", entry.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [entry, &asked]() -> testing::Test* { return new CampaignTest(entry, asked); });
  return RUN_ALL_TESTS();
}
