// A task or hold that is blocked on memory is retried as soon as its obstacle is gone, even if the memory was never
// used: no later event would trigger another try.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fairlead/error.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "front/flow/flow_source.hpp"
#include "whole/world.hpp"

namespace fairlead::tests {

namespace {
using engine::OpenHold;

/// Picks its first task for any worker that can run it; selects no victim.
class NoVictims final : public Policy {
 public:
  explicit NoVictims(bool gives) : gives_(gives) {}
  void ready(Task& task, WorkerId) override { held_.push_back(&task); }
  Task* pick(WorkerId, bool) override {
    if (!gives_ || held_.empty()) return nullptr;
    Task* task = held_.front();
    held_.pop_front();
    return task;
  }
  DatumId victim(NodeId, EvictionCandidates&) override { return no_id<DatumId>; }

 private:
  bool gives_;
  std::deque<Task*> held_;
};

/// Flows with tasks and holds on a simulated machine with one cache, RAM; its last worker is of another kind,
/// if there are two. Ordinary tasks take 100 us, the others 10 ms; a datum of 1 MiB comes or goes in about a
/// millisecond.
struct Program {
  explicit Program(Bytes capacity, std::size_t workers = 1, std::unique_ptr<Policy> policy = nullptr)
      : sim(times()), core(options(capacity, workers, std::move(policy)), sim) {
    failing.kinds = long_there.kinds = 2;
    long_one.kinds = 3;
  }
  backend::SimOptions times() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId) {
      return Duration(task.codelet == &ordinary ? 100'000 : 10'000'000);
    };
    options.task_fails = [this](const Task& task) { return task.codelet == &failing; };
    return options;
  }
  static engine::CoreOptions options(Bytes capacity, std::size_t workers, std::unique_ptr<Policy> policy) {
    engine::CoreOptions options{.topology = out_of_core_topology(workers, capacity, 1e9, Duration{}),
                                .policy = policy ? std::move(policy) : schedule::make_policy("eager"),
                                .engine = {}};
    options.topology.workers.back().kind = workers > 1 ? WorkerKind::emulated : WorkerKind::cpu;
    options.engine.check_invariants = true;
    options.engine.pipeline_depth = 4;
    return options;
  }
  engine::RegisteredDatum& datum(Bytes bytes, MemoryKind home = MemoryKind::store) {
    auto& made = data.emplace_back();
    core.register_datum(
        made, {.bytes = bytes,
               .home = home == MemoryKind::store ? core.topology().store() : core.topology().user_memory()});
    made.ever_written = true;
    return made;
  }
  static front::Submission submission(const CodeletInfo& codelet,
                                      const std::vector<front::Submission::Use>& uses) {
    front::Submission submission;
    submission.codelet = &codelet;
    submission.uses = uses;
    return submission;
  }
  void submit(front::FlowSource& flow, const CodeletInfo& codelet,
              const std::vector<front::Submission::Use>& uses) {
    flow.submit(submission(codelet, uses));
  }
  /// Acquires the data without waiting; counts the outcome.
  void ask(front::FlowSource& flow, const std::vector<front::Submission::Use>& uses) {
    std::vector<detail::AccessIndex> access_of_use;
    flow.acquire_then(submission(ordinary, uses), access_of_use,
                      [this](const std::shared_ptr<OpenHold>& record) {
                        ++(record->state.load() == OpenHold::State::granted ? granted : refused);
                        core.holds().release(*record);
                      });
  }

  CodeletInfo ordinary, failing, long_one, long_there;
  int granted = 0, refused = 0;
  std::deque<engine::RegisteredDatum> data;
  backend::SimWorld sim;
  engine::RuntimeCore core;
};

constexpr auto reading = AccessMode::read, writing = AccessMode::write, adding = AccessMode::commutative;
}  // namespace

// The claimant waits for the write-back of A, and a hold waits behind it. Then another task of the claimant's
// commutative group fails: the claimant will not run, so the hold can have the memory. No other event follows.
TEST(AdmissionRetry, AHoldGetsTheMemoryClaimedByATaskThatIsCancelled) {
  Program program(4_MiB, 2);
  auto &a = program.datum(2_MiB), &b = program.datum(2_MiB), &c = program.datum(2_MiB);
  auto& group = program.datum(4096, MemoryKind::user);
  auto& d = program.datum(2_MiB);
  front::FlowSource flow(program.core), another(program.core);
  program.submit(another, program.ordinary, {{&a, writing}});
  program.submit(another, program.ordinary, {{&b, writing}});
  another.wait();
  program.submit(flow, program.ordinary, {{&group, adding}, {&c, reading}});  // claims, and waits for space
  ASSERT_NE(program.core.engine().memory().node(program.core.topology().host()).claimant, nullptr);
  program.submit(flow, program.failing, {{&group, adding}});  // needs no space, and passes
  program.ask(another, {{&d, reading}});
  another.wait();
  EXPECT_EQ(program.granted, 1);
  EXPECT_THROW(flow.wait(), TaskError);
}

// The hold's memory is free, but the claim of the task b goes first. When that is admitted, it needs no copy: the next
// event is its end, 10 ms later.
TEST(AdmissionRetry, AHoldBlockedByAClaimIsGrantedOnceTheClaimantIsAdmitted) {
  Program program(4_MiB, 2);
  auto &a = program.datum(2_MiB), &b = program.datum(3_MiB), &c = program.datum(4096);
  front::FlowSource flow(program.core), another(program.core);
  program.submit(flow, program.ordinary, {{&a, writing}});
  program.submit(flow, program.long_one, {{&b, writing}});
  ASSERT_NE(program.core.engine().memory().node(program.core.topology().host()).claimant, nullptr);
  program.ask(another, {{&c, reading}});
  ASSERT_EQ(program.granted, 0);
  flow.wait();
  EXPECT_EQ(program.granted, 1);
  another.wait();
}

// The only event left is the end of the long task.
TEST(AdmissionRetry, ACancelledHoldThatWaitsForMemoryIsNotifiedAtOnce) {
  Program program(4_MiB, 2);
  auto &a = program.datum(2_MiB), &b = program.datum(2_MiB), &c = program.datum(2_MiB);
  front::FlowSource flow(program.core), another(program.core);
  program.submit(another, program.long_one, {{&a, writing}});
  program.submit(another, program.long_one, {{&b, writing}});
  program.ask(flow, {{&c, reading}});
  ASSERT_EQ(program.granted + program.refused, 0);
  flow.cancel();
  EXPECT_EQ(program.refused, 1);
  EXPECT_EQ(program.core.engine().memory().node(program.core.topology().host()).claimant, nullptr);
  another.wait();
}

// The first task of a pipeline may use the whole memory, a task behind another one half of it. The task before
// it used no memory, so its end frees none.
TEST(AdmissionRetry, ATaskThatBecomesFirstInItsPipelineMayUseMoreThanHalfOfTheMemory) {
  Program program(4_MiB, 2);
  auto &x = program.datum(4096, MemoryKind::user), &y = program.datum(4096, MemoryKind::user);
  auto& large = program.datum(3_MiB);
  front::FlowSource flow(program.core), short_ones(program.core);
  program.submit(flow, program.long_there, {{&y, writing}});
  program.submit(short_ones, program.ordinary, {{&x, writing}});
  program.submit(short_ones, program.ordinary, {{&large, reading}});
  short_ones.wait();
  EXPECT_LT(program.sim.now(), Time(10'000'000)) << "it waited for an unrelated task";
  flow.wait();
}

// Memory is freed whatever victims a policy selects.
TEST(AdmissionRetry, APolicyThatSelectsNoVictimIsOverruled) {
  Program program(4_MiB, 1, std::make_unique<NoVictims>(true));
  front::FlowSource flow(program.core);
  for (int i = 0; i < 5; ++i) program.submit(flow, program.ordinary, {{&program.datum(2_MiB), writing}});
  flow.wait();
}

// A policy that picks no task ends the run with an error instead of blocking it.
TEST(AdmissionRetry, APolicyThatPicksNoTaskIsAnError) {
  Program program(4_MiB, 1, std::make_unique<NoVictims>(false));
  front::FlowSource flow(program.core);
  program.submit(flow, program.ordinary, {{&program.datum(2_MiB), writing}});
  try {
    flow.wait();
    FAIL() << "it ended";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("picks none of 1 ready tasks"));
  }
}

}  // namespace fairlead::tests
