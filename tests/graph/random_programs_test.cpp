// Random programs on one to four worker threads. Versions and values are plain numbers: only the graph orders their
// accesses, so ThreadSanitizer reports a missing order.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <deque>
#include <optional>

#include "at_length.hpp"
#include "graph/crew.hpp"
#include "graph/random_program.hpp"

namespace fairlead::tests {
namespace {

struct CheckedDatum {
  std::uint64_t version = 0, value = 0;
  std::mutex token;  // for accesses that may run concurrently, which an engine serializes
  std::atomic<int> readers{0}, writers{0}, sharers{0};  // relaxed: they must not order accesses
};

/// How the submitter's accesses entered the graph.
struct Reached {
  std::size_t first = 0, joined = 0, joined_and_ready = 0, reused = 0, appended = 0;
};

class CheckedRun {
 public:
  explicit CheckedRun(const RandomProgram& program)
      : program_(program), data_(program.data), tails_(program.data) {}

  /// The first failure, if any.
  std::optional<std::string> run(std::size_t workers, std::uint64_t seed, Reached& reached) {
    Crew crew(graph_, workers, seed, [this](Task& task) { check(task); });
    Random random(seed);
    for (const PlannedTask& planned : program_.tasks) {
      insert(crew, planned, reached);
      if (!crew.help(program_.window - 1)) return "the window is full and no thread can run a task";
      // Sometimes all tasks finish before the next insertion: then epochs are reused.
      if (random.once_in(12) && !crew.help(random.below(program_.window))) return "no thread can run a task";
    }
    if (!crew.finish()) return "tasks are left and no thread can run one";
    for (std::size_t d = 0; d < program_.data; ++d) {
      if (data_[d].version != program_.final_versions[d]) fail("datum {} ends with a wrong version", d);
      if (data_[d].value != program_.final_values[d]) fail("datum {} ends with a wrong value", d);
    }
    return failure_;
  }

 private:
  template <class... Arguments>
  void fail(fmt::string_view what, const Arguments&... arguments) {
    const std::lock_guard guard(failure_mutex_);
    if (!failure_) failure_ = fmt::vformat(what, fmt::make_format_args(arguments...));
  }

  void insert(Crew& crew, const PlannedTask& planned, Reached& reached) {
    std::array<graph::Insertion, 6> insertions;
    for (std::size_t i = 0; i < planned.uses.size(); ++i) {
      const PlannedUse& use = planned.uses[i];
      insertions[i] = {&tails_[use.datum], static_cast<DatumId>(use.datum), use.mode};
      const graph::Epoch* last = tails_[use.datum].last;
      if (last == nullptr) {
        ++reached.first;
      } else if (last->mode == use.mode && may_share(use.mode)) {
        ++reached.joined;
        if (last->waiters.load(std::memory_order_relaxed) == graph::Epoch::begun())
          ++reached.joined_and_ready;
      } else if (last->pending.load(std::memory_order_relaxed) == 1) {
        ++reached.reused;
      } else {
        ++reached.appended;
      }
    }
    Task* task = graph_.make_task(planned.uses.size());
    crew.submit(*task, std::span(insertions).first(planned.uses.size()));
  }

  void check(Task& task) {
    const std::size_t t = index(task.id);
    const auto& uses = program_.tasks[t].uses;
    if (task.access_count != uses.size()) fail("task {} lost accesses", t);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const Access& access = task.accesses()[i];
      if (access.task != &task || index(access.datum) != uses[i].datum || access.mode != uses[i].mode)
        fail("access {} of task {} is not what was submitted", i, t);
      enter(t, uses[i]);
    }
    std::uint64_t inputs = 0;
    for (const PlannedUse& use : uses) {
      if (!reads(use.mode) || in_any_order(use.mode)) continue;
      const CheckedDatum& datum = data_[use.datum];
      if (datum.version != use.version || datum.value != use.value)
        fail("task {} finds version {} of datum {} instead of {}", t, datum.version, use.datum, use.version);
      inputs = mixed(inputs, datum.value);
    }
    for (const PlannedUse& use : uses) {
      CheckedDatum& datum = data_[use.datum];
      if (in_any_order(use.mode)) {
        const std::lock_guard guard(datum.token);
        if (datum.version < use.version || datum.version >= use.version + use.versions)
          fail("task {} adds to version {} of datum {}, not to {} or the {} after it", t, datum.version,
               use.datum, use.version, use.versions - 1);
        ++datum.version;
        datum.value += contribution(t, use.datum);
      } else if (writes(use.mode)) {
        if (datum.version != use.version)
          fail("task {} overwrites another version of datum {}", t, use.datum);
        ++datum.version;
        datum.value = output(t, use.datum, inputs);
      }
    }
    for (const PlannedUse& use : uses) leave(use);
  }

  void enter(std::size_t t, const PlannedUse& use) {
    CheckedDatum& datum = data_[use.datum];
    count_of(datum, use.mode).fetch_add(1, std::memory_order_relaxed);
    const int readers = datum.readers.load(std::memory_order_relaxed);
    const int writers = datum.writers.load(std::memory_order_relaxed);
    const int sharers = datum.sharers.load(std::memory_order_relaxed);
    const bool alone = use.mode == AccessMode::read ? writers == 0 && sharers == 0
                       : in_any_order(use.mode)     ? writers == 0 && readers == 0
                                                    : writers == 1 && readers == 0 && sharers == 0;
    if (!alone) fail("task {} is not alone with datum {} ({})", t, use.datum, name_of(use.mode));
  }
  void leave(const PlannedUse& use) {
    count_of(data_[use.datum], use.mode).fetch_sub(1, std::memory_order_relaxed);
  }
  static std::atomic<int>& count_of(CheckedDatum& datum, AccessMode mode) {
    return mode == AccessMode::read ? datum.readers : in_any_order(mode) ? datum.sharers : datum.writers;
  }

  const RandomProgram& program_;
  std::deque<CheckedDatum> data_;
  std::vector<graph::DatumState> tails_;
  graph::DependencyGraph graph_;
  std::mutex failure_mutex_;  // guards failure_
  std::optional<std::string> failure_;
};

}  // namespace

// Every task finds the versions of the program's order, whichever thread runs it and whenever.
TEST(RandomPrograms, GiveEveryTaskTheVersionsOfTheProgramsOrder) {
  const std::uint64_t seeds = fairlead::tests::many_cases() ? 300 : 60;
  Reached reached;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomProgram program(seed);
    for (std::size_t workers = 1; workers <= 4; ++workers) {
      CheckedRun run(program);
      const auto failure = run.run(workers, seed, reached);
      ASSERT_FALSE(failure.has_value()) << "seed " << seed << ", " << workers << " workers: " << *failure;
    }
  }
  // The programs have covered all paths into the graph.
  EXPECT_GT(reached.first, 1000u);
  EXPECT_GT(reached.joined, 1000u);
  EXPECT_GT(reached.joined_and_ready, 1000u);
  EXPECT_LT(reached.joined_and_ready, reached.joined);
  EXPECT_GT(reached.reused, 1000u);
  EXPECT_GT(reached.appended, 1000u);
}

// Random programs on the submitting thread only: the protocol alone decides which tasks are ready, without races.
TEST(RandomPrograms, RunOnTheSubmittingThreadAlone) {
  Reached reached;
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    const RandomProgram program(seed);
    CheckedRun run(program);
    const auto failure = run.run(0, seed, reached);
    ASSERT_FALSE(failure.has_value()) << "seed " << seed << ": " << *failure;
  }
}

}  // namespace fairlead::tests
