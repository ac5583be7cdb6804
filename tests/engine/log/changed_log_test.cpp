// The commands are determined by the events: a changed event leads to other commands, or is refused because the
// engine would not have requested it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "engine/log/log_records.hpp"
#include "engine/log/logged_run.hpp"
#include "sanitized.hpp"

namespace fairlead::tests {
namespace {

bool is_noticed(const LoggedRun& run, const std::vector<LogRecord>& changed) {
  try {
    return run.replay(words_of(changed)).digest != run.digest;
  } catch (const InputError&) {
    return true;
  }
}

constexpr std::uint64_t runs = sanitized ? 1 : 8;

struct Tally {
  std::size_t changes = 0, noticed = 0;
};

/// Makes the change at every record for which `change` returns true, one at a time, in logs of several runs.
Tally try_everywhere(const std::string& policy,
                     const std::function<bool(std::vector<LogRecord>&, std::size_t at)>& change,
                     std::uint64_t logs = runs) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= logs; ++seed) {
    const LoggedRun run = logged_run(
        seed, {.policy = policy, .copies_fail = seed % 3 == 0, .tasks_fail = seed % 4 == 0, .tasks = 60});
    const std::vector<LogRecord> records = records_of(run.words);
    EXPECT_EQ(words_of(records), run.words);
    for (std::size_t at = 0; at < records.size(); ++at) {
      auto changed = records;
      if (!change(changed, at)) continue;
      ++tally.changes;
      tally.noticed += is_noticed(run, changed);
    }
  }
  return tally;
}

void erase(std::vector<LogRecord>& records, std::size_t at) {
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
}

/// A word of the record of a ready task, and of the record of its submission, if there is one.
template <class F>
void change_task(std::vector<LogRecord>& records, std::size_t at, std::size_t word, F&& f) {
  const std::uint64_t id = records[at].subject();
  records[at].words[word] = f(records[at].words[word]);
  for (LogRecord& record : records)
    if (record.kind() == LogRecord::Kind::submission && record.words[1] == id)
      record.words[word - 2] = f(record.words[word - 2]);
}

}  // namespace

TEST(ChangedLog, AMissingReadyTaskIsDetected) {
  for (const char* policy : {"eager", "lws", "darts", "blocks"}) {
    const Tally tally = try_everywhere(policy, [](auto& records, std::size_t at) {
      if (!records[at].is(EventKind::task_ready)) return false;
      erase(records, at);
      return true;
    });
    EXPECT_GE(tally.changes, runs * 60);  // and folds
    EXPECT_EQ(tally.noticed, tally.changes) << policy;
  }
}

// The last events of a run may have no consequence, so not every missing event is detected.
TEST(ChangedLog, AMissingEndOfATaskOrCopyIsDetectedIfItHadAConsequence) {
  for (const char* policy : {"eager", "lws", "darts", "blocks"}) {
    const Tally tally = try_everywhere(policy, [](auto& records, std::size_t at) {
      const LogRecord& record = records[at];
      if (record.is(EventKind::task_ready) || !(record.is_about_a_task() || record.is_about_a_copy()))
        return false;
      erase(records, at);
      return true;
    });
    EXPECT_GT(tally.changes, 100 * runs);
    EXPECT_GT(tally.noticed * 100, tally.changes * 90) << policy;
  }
}

TEST(ChangedLog, AnEventOfAnotherTaskOrCopyIsDetected) {
  for (const char* policy : {"eager", "lws", "darts", "blocks"}) {
    const Tally tally = try_everywhere(policy, [](auto& records, std::size_t at) {
      if (!records[at].is_about_a_task() && !records[at].is_about_a_copy()) return false;
      records[at].subject() ^= 1;
      return true;
    });
    EXPECT_GT(tally.changes, 125 * runs);
    EXPECT_EQ(tally.noticed, tally.changes) << policy;
  }
}

// Tasks are served in their order of arrival, so the order matters.
TEST(ChangedLog, SwappedReadyTasksLeadToOtherCommands) {
  const Tally tally = try_everywhere("eager", [](auto& records, std::size_t at) {
    if (at + 1 == records.size() || !records[at].is(EventKind::task_ready) ||
        !records[at + 1].is(EventKind::task_ready))
      return false;
    // A fold without a partial result finishes at once, whatever precedes it.
    const auto folds = [](const LogRecord& record) { return ((record.words[7] >> 34) & 1) != 0; };
    if (folds(records[at]) || folds(records[at + 1])) return false;
    std::swap(records[at], records[at + 1]);
    return true;
  });
  EXPECT_GT(tally.changes, 3 * runs);
  // Both may be picked before any other event, by workers for which the order makes no difference.
  EXPECT_GT(tally.noticed * 100, tally.changes * 80);
}

TEST(ChangedLog, AFailedTaskInPlaceOfASuccessLeadsToOtherCommands) {
  const Tally tally = try_everywhere("eager", [](auto& records, std::size_t at) {
    if (!records[at].is(EventKind::task_finished)) return false;
    records[at].words[0] += (static_cast<std::uint64_t>(EventKind::task_failed) -
                             static_cast<std::uint64_t>(EventKind::task_finished))
                            << 8;
    return true;
  });
  EXPECT_GT(tally.noticed * 2, tally.changes);  // not if it only read, or if no task reads its result
}

bool of_one_kind(const Topology& machine) {
  return std::ranges::all_of(
      machine.workers, [&](const WorkerSpec& worker) { return worker.kind == machine.workers.front().kind; });
}

/// True if a codelet has several bodies for one kind of worker.
bool has_choices(const std::vector<LogRecord>& records) {
  return std::ranges::any_of(records, [](const LogRecord& record) {
    if (record.kind() != LogRecord::Kind::codelet) return false;
    const auto behind_text = [&](std::size_t at) { return at + 1 + (record.words[at] + 7) / 8; };
    std::set<std::uint64_t> kinds;
    for (std::size_t at = behind_text(1); at < record.words.size(); at = behind_text(at + 1))
      if (!kinds.insert(record.words[at] & 0xff).second) return true;
    return false;
  });
}

// The depth of pipelines depends on the durations of tasks and copies, unless it is given. Durations have no effect
// only if the depth is given, no slower worker leaves tasks to a faster one, and no body is chosen by its duration.
TEST(ChangedLog, LongerTasksLeadToOtherCommandsIfThePipelineDepthDependsOnThem) {
  std::size_t free = 0, fixed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const LoggedRun run = logged_run(seed, {.policy = "eager", .tight = false, .tasks = 400});
    auto records = records_of(run.words);
    for (LogRecord& record : records)
      if (record.is(EventKind::task_finished)) record.duration() *= 1000;
    if (run.options.pipeline_depth == 0) {
      free += is_noticed(run, records);
    } else if (of_one_kind(run.machine) && !has_choices(records)) {
      EXPECT_FALSE(is_noticed(run, records)) << "seed " << seed;
      ++fixed;
    }
  }
  EXPECT_GT(free, 0u);
  EXPECT_GT(fixed, 0u);
}

TEST(ChangedLog, AnotherPriorityLeadsToOtherCommandsIfThePolicyUsesIt) {
  const auto raise = [](auto& records, std::size_t at) {
    if (!records[at].is(EventKind::task_ready)) return false;
    change_task(records, at, 4,
                [](std::uint64_t word) { return (word & ~std::uint64_t{0xffff'ffff}) | 1000; });
    return true;
  };
  EXPECT_GT(try_everywhere("lws", raise).noticed, 20u);
  EXPECT_EQ(try_everywhere("eager", raise).noticed, 0u);
}

// Logs of machines with accelerators contain placement hints of tasks and of data.
TEST(ChangedLog, OtherPlacementHintsLeadToOtherCommandsIfThePolicyUsesThem) {
  const auto no_wish_of_a_task = [](auto& records, std::size_t at) {
    constexpr std::uint64_t place = 0xffff'0000;
    if (!records[at].is(EventKind::task_ready) || (records[at].words[6] & place) == 0) return false;
    change_task(records, at, 6, [](std::uint64_t word) { return word & ~place; });
    return true;
  };
  const auto no_advice = [](auto& records, std::size_t at) {
    if (records[at].kind() != LogRecord::Kind::advice) return false;
    erase(records, at);
    return true;
  };
  EXPECT_GT(try_everywhere("owner-user", no_wish_of_a_task, 8).noticed, 5u);
  EXPECT_GT(try_everywhere("owner-user", no_advice, 24).noticed, 0u);
  EXPECT_EQ(try_everywhere("dmda", no_wish_of_a_task).noticed, 0u);
  EXPECT_EQ(try_everywhere("dmda", no_advice).noticed, 0u);
}

TEST(ChangedLog, AnUnknownAcceleratorIsRefused) {
  const Tally tally = try_everywhere("owner-user", [](auto& records, std::size_t at) {
    if (records[at].is(EventKind::task_ready)) {
      records[at].words[6] |= 0xff'0000;
    } else if (records[at].kind() == LogRecord::Kind::advice) {
      records[at].words[0] |= std::uint64_t{0xff} << 40;
    } else {
      return false;
    }
    return true;
  });
  EXPECT_EQ(tally.noticed, tally.changes);
}

// Tasks that no worker runs have the mark 1, folds have 4.
TEST(ChangedLog, ATaskOfAnUnknownRoleIsRefused) {
  const Tally tally = try_everywhere("eager", [](auto& records, std::size_t at) {
    if (!records[at].is(EventKind::task_ready)) return false;
    records[at].words[7] |= std::uint64_t{5} << 32;
    return true;
  });
  EXPECT_GT(tally.changes, 20 * runs);
  EXPECT_EQ(tally.noticed, tally.changes);
}

TEST(ChangedLog, ADatumOfAnotherSizeLeadsToOtherCommands) {
  const Tally tally = try_everywhere("eager", [](auto& records, std::size_t at) {
    if (records[at].kind() != LogRecord::Kind::datum) return false;
    records[at].words[1] *= 3;
    return true;
  });
  EXPECT_GT(tally.noticed * 2, tally.changes);
}

TEST(ChangedLog, CannotBeReplayedWithAnotherPolicy) {
  LoggedRun run = logged_run(5, {.policy = "eager"});
  for (const char* other : {"lws", "darts"}) {
    run.policy = other;
    EXPECT_TRUE(is_noticed(run, records_of(run.words))) << other;
  }
  run.policy = "blocks";
  auto records = records_of(run.words);  // logs with devices contain them for another reason
  std::erase_if(records,
                [](const LogRecord& record) { return record.kind() == LogRecord::Kind::submission; });
  try {
    run.replay(words_of(records));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("plans over the graph"));
  }
}

// Any content of a file leads to an error or a run. Bits of words are flipped, and the end is cut off.
TEST(ChangedLog, NoContentOfALogCrashesTheReplay) {
  std::size_t refused = 0;
  Random random(9);
  for (const char* policy : {"eager", "darts", "blocks"})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const LoggedRun run =
          logged_run(seed, {.policy = policy, .copies_fail = true, .tasks_fail = true, .tasks = 40});
      for (int i = 0; i < 250; ++i) {
        auto words = run.words;
        words[random.below(words.size())] ^= std::uint64_t{1} << random.below(64);
        if (random.once_in(5)) words.resize(random.below(words.size()));
        if (!words.empty() && random.once_in(5))
          words.erase(words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2));
        try {
          run.replay(words);
        } catch (const InputError&) {
          ++refused;
        }
      }
    }
  EXPECT_GT(refused, 1000u);
}

TEST(ChangedLog, ReportsTheWordAtWhichTheReplayFails) {
  const LoggedRun run = logged_run(1, {});
  std::vector<LogRecord> records = records_of(run.words);
  for (std::size_t at = 0; at < records.size(); ++at) {
    if (!records[at].is(EventKind::task_finished)) continue;
    records[at].subject() = 4711;
    break;
  }
  try {
    run.replay(words_of(records));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex("the event log cannot be replayed; at word [0-9]+: "
                                                    "there is no task 4711"));
  }
}

// A task gets another priority: before its record, all commands are unchanged.
TEST(ChangedLog, ReportsTheFirstEventAfterWhichCommandsDiffer) {
  const LoggedRun run = logged_run(3, {.policy = "lws", .tasks = 60});
  const auto records = records_of(run.words);
  std::size_t differences = 0;
  for (std::size_t at = 0; at < records.size(); ++at) {
    if (!records[at].is(EventKind::task_ready)) continue;
    auto changed = records;
    changed[at].words[4] = (changed[at].words[4] & ~std::uint64_t{0xffff'ffff}) | 1000;  // its priority
    const auto events_before = static_cast<std::size_t>(
        std::count_if(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(at),
                      [](const LogRecord& record) { return record.kind() == LogRecord::Kind::event; }));
    std::string what;
    try {
      what = run.replay(words_of(changed)).difference;
    } catch (const InputError& error) {
      what = error.what();
    }
    std::size_t event = 0;
    const auto named = what.find("after event ");
    if (named == std::string::npos) continue;  // the priority had no effect, or only a possible one
    ++differences;
    event = std::stoull(what.substr(named + 12));
    EXPECT_GT(event, events_before) << what;
    EXPECT_THAT(what, testing::ContainsRegex("this engine differs from that of the run: it [a-z]+"));
  }
  EXPECT_GT(differences, 3u);
}

// Logs of older versions contain no digests of commands.
TEST(ChangedLog, IsNotComparedWithoutDigestsOfCommands) {
  const LoggedRun run = logged_run(3, {});
  auto records = records_of(run.words);
  for (LogRecord& record : records)
    if (record.kind() == LogRecord::Kind::served) record.words[0] &= 0xff;
  const engine::ReplayResult again = run.replay(words_of(records));
  EXPECT_EQ(again.digest, run.digest);
  EXPECT_EQ(again.compared, 0u);
  EXPECT_EQ(again.difference, "");
}

}  // namespace fairlead::tests
