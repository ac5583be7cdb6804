// User-defined front ends: sources of very many tasks, of which only a batch exists at a time. They are not part of the
// library, and need as much memory for millions of tasks as for few.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/counted_source.hpp"
#include "engine/registered_datum.hpp"
#include "front/runtime/runtime_access.hpp"
#include "policy/policy.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

constexpr std::uint64_t few = tests::sanitized ? 1u << 14 : 1u << 16;
// Sanitizers make tasks expensive, and keep their own memory.
constexpr std::uint64_t many_independent = tests::sanitized ? 1u << 18 : 1u << 22;
constexpr std::uint64_t many_released = tests::sanitized ? 1u << 17 : 1u << 19;

/// The order of the tasks of a source. Each adds its number to the sum of the worker that runs it.
struct Adding {
  static constexpr std::size_t workers = 2;
  struct alignas(64) Sum {
    std::uint64_t value = 0;
  };
  CodeletInfo codelet;
  std::array<Sum, workers> sums;

  Adding() {
    codelet.name = "add its number";
    codelet.kinds = 0;
    codelet.implement(WorkerKind::cpu, {.run =
                                            [](const void* body, TaskContext& context) {
                                              auto& all = *static_cast<Adding*>(const_cast<void*>(body));
                                              const void* const closure = detail::closure_of(context);
                                              all.sums[index(context.worker)].value +=
                                                  *static_cast<const std::uint64_t*>(closure);
                                            },
                                        .body = std::shared_ptr<const void>(this, [](const void*) {})});
  }
  Adding(const Adding&) = delete;
  Adding& operator=(const Adding&) = delete;
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const Sum& one : sums) all += one.value;
    return all;
  }
};

enum class Order {
  independent,  // all are ready from the start
  first_alone,  // the first one releases all the others
  chain,        // each releases the next
};
enum class Priorities { none, some };

/// A number of tasks; only their progress is stored. Each reads one datum.
class Numbers final : public engine::CountedSource {
 public:
  Numbers(engine::RuntimeCore& core, Handle<double> datum, std::uint64_t tasks, Order order, Priorities given)
      : CountedSource(core), datum_(*datum.datum().datum), tasks_(tasks), order_(order), given_(given) {}
  ~Numbers() override { stop_handing_out(); }

  void run() {
    first_id_ = core_.graph().take_ids(tasks_);
    core_.engine().try_open_fast_path();
    if ((fast_path_ = core_.engine().fast_path().generation()) != 0)
      address_ = core_.engine().admit_to_fast_path(datum_.id, true);
    count_submitted(tasks_);
    hand_out();
    wait_until_done(tasks_);
    core_.throw_if_stopped();
  }
  std::uint64_t sum() const { return all_.sum(); }

  void release(Task& over, ReadyTasks& ready) override {
    const std::uint64_t number = static_cast<std::uint64_t>(over.id) - first_id_;
    if (order_ == Order::independent || (order_ == Order::first_alone && number != 0)) return;
    released_.store(order_ == Order::chain ? number + 2 : tasks_);
    if (to_be_announced()) return has_more_ready();  // the engine must not be called here
    if (order_ == Order::chain && number + 1 < tasks_) return ready.add(make(number + 1, ready));
    if (order_ == Order::first_alone) has_more_ready();
  }
  bool more(ReadyTasks& ready) override {
    if (order_ == Order::chain && !to_be_announced() && next_ > 0) return false;  // release() submits it
    for (; next_ < released_.load() && next_ < tasks_; ++next_) {
      if (ready.full()) return true;
      ready.add(to_be_announced() ? announced(ready) : make(next_, ready));
    }
    return false;
  }

 private:
  Task& make(std::uint64_t number, const ReadyTasks& ready) {
    Task& task = ready.recycler.take();
    task.family = &described;
    static_cast<TaskTraits&>(task) = {
        .codelet = &all_.codelet,
        .submitted_at = {__FILE__, __LINE__},
        .priority = given_ == Priorities::none ? 0 : static_cast<std::int32_t>(number % 3) - 1};
    task.begin(static_cast<TaskId>(first_id_ + number), task.inline_access.data(), 1);
    task.at = {};
    task.fast_path_generation =
        address_ != nullptr && engine::is_eligible_for_fast_path(task) ? fast_path_ : 0;
    Access& access = task.inline_access[0] = Access{};
    access.task = &task;
    access.datum = datum_.id;
    access.mode = AccessMode::read;
    access.address = address_;
    ::new (task.closure.data()) std::uint64_t(number);
    return task;
  }
  /// The next task; the policy has been notified of it and of those that follow.
  Task& announced(const ReadyTasks& ready) {
    for (; last_announced_ < tasks_ && ahead_.size() < far_ahead; ++last_announced_) {
      ahead_.push_back(&make(last_announced_, ready));
      announce(*ahead_.back());
    }
    Task& task = *ahead_.front();
    ahead_.pop_front();
    return task;
  }

  static constexpr std::size_t far_ahead = 64;

  Adding all_;
  engine::RegisteredDatum& datum_;
  const std::uint64_t tasks_;
  const Order order_;
  const Priorities given_;
  std::uint64_t first_id_ = 0;
  std::uint32_t fast_path_ = 0;
  void* address_ = nullptr;
  std::atomic<std::uint64_t> released_{order_ == Order::independent ? tasks_ : 1};
  std::uint64_t next_ = 0, last_announced_ = 0;  // used by more(), like the next member
  std::deque<Task*> ahead_;
};

struct World {
  Runtime runtime;
  double value = 1;
  Handle<double> datum = runtime.value("datum", value);

  static Config config(int workers, const char* scheduler) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "16MiB");
    config.set("scheduler", scheduler);
    config.set("bind-threads", false);
    return config;
  }
  explicit World(int workers = 2, const char* scheduler = "lws") : runtime(config(workers, scheduler)) {}

  std::uint64_t sum_of(std::uint64_t tasks, Order order, Priorities given) {
    Numbers numbers(front::core_of(runtime), datum, tasks, order, given);
    numbers.run();
    return numbers.sum();
  }
};

constexpr std::uint64_t sum_below(std::uint64_t n) { return n * (n - 1) / 2; }

/// The peak of resident memory since forget_peak().
std::uint64_t peak_kibibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kibibytes = 0; word == "VmHWM:" && status >> kibibytes) return kibibytes;
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

class OwnSourceOfMany : public testing::TestWithParam<std::tuple<Order, Priorities, int>> {};

std::string name_of_many(const testing::TestParamInfo<std::tuple<Order, Priorities, int>>& instance) {
  const auto [order, given, workers] = instance.param;
  return std::string(order == Order::independent ? "Independent" : "ReleasedByOne") +
         (given == Priorities::none ? "" : "WithPriorities") + (workers == 1 ? "OneWorker" : "TwoWorkers");
}

}  // namespace

TEST_P(OwnSourceOfMany, NeedsNoMoreMemoryForMillionsOfTasksThanForFew) {
  // Not a structured binding: clang 14 does not capture those.
  const auto order = std::get<Order>(GetParam());
  const auto given = std::get<Priorities>(GetParam());
  const auto workers = std::get<int>(GetParam());
  const auto peak_with = [&](std::uint64_t tasks) {
    forget_peak();
    EXPECT_EQ(World(workers).sum_of(tasks, order, given), sum_below(tasks));
    return peak_kibibytes();
  };
  const std::uint64_t with_few = peak_with(few);
  ASSERT_GT(with_few, 0u);
  EXPECT_LE(peak_with(order == Order::independent ? many_independent : many_released),
            with_few + (tests::sanitized ? 200 : 20) * 1024);
}

INSTANTIATE_TEST_SUITE_P(Many, OwnSourceOfMany,
                         testing::Combine(testing::Values(Order::independent, Order::first_alone),
                                          testing::Values(Priorities::none, Priorities::some),
                                          // One worker has no races.
                                          testing::Range(tests::thread_sanitized ? 2 : 1, 3)),
                         name_of_many);

TEST(OwnSource, UsesTheFastPath) {
  World world;
  EXPECT_EQ(world.sum_of(few, Order::chain, Priorities::none), sum_below(few));
  EXPECT_EQ(front::core_of(world.runtime).engine().fast_path().tasks(), few);
}

TEST(OwnSource, GivesItsTasksToEveryPolicyABatchAtATime) {
  for (const char* const scheduler : {"eager", "darts", "dmdas", "blocks"})
    for (const Order order : {Order::independent, Order::first_alone, Order::chain})
      EXPECT_EQ(World(2, scheduler).sum_of(2000, order, Priorities::some), sum_below(2000)) << scheduler;
}

namespace {
/// Oldest first. It must be notified of every task, with its data, before the task is ready, and counts tasks known ahead.
class Planning final : public Policy {
 public:
  struct Seen {
    std::uint64_t announced = 0, ready = 0, most_ahead = 0, unknown = 0, without_data = 0;
  };
  explicit Planning(Seen& seen) : seen_(seen) {}
  Notifications interests() const override { return Notifications::submitted; }
  void submitted(Task& task) override {
    announced_ = std::max(announced_, static_cast<std::uint64_t>(task.id));
    ++seen_.announced;
    seen_.without_data += task.access_count != 1 || task.accesses()[0].mode != AccessMode::read;
  }
  void ready(Task& task, WorkerId) override {
    const auto id = static_cast<std::uint64_t>(task.id);
    seen_.unknown += id > announced_;
    seen_.most_ahead = std::max(seen_.most_ahead, announced_ - id);
    ++seen_.ready;
    queue_.push_back(&task);
  }
  Task* pick(WorkerId, bool) override {
    if (queue_.empty()) return nullptr;
    Task* const oldest = queue_.front();
    queue_.pop_front();
    return oldest;
  }

 private:
  Seen& seen_;
  std::uint64_t announced_ = 0;
  std::deque<Task*> queue_;
};
}  // namespace

TEST(OwnSource, NotifiesAPlanningPolicyOfTasksBeforeTheyAreReady) {
  for (const Order order : {Order::independent, Order::first_alone, Order::chain}) {
    World world;
    Planning::Seen seen;
    front::core_of(world.runtime).replace_policy(std::make_unique<Planning>(seen), "planning");
    EXPECT_EQ(world.sum_of(2000, order, Priorities::none), sum_below(2000));
    EXPECT_EQ(seen.announced, 2000u);
    EXPECT_EQ(seen.ready, 2000u);
    EXPECT_EQ(seen.unknown, 0u);
    EXPECT_EQ(seen.without_data, 0u);
    EXPECT_GE(seen.most_ahead, 63u);
  }
}

}  // namespace fairlead
