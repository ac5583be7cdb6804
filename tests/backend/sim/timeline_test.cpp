// Several simulated worlds on one clock; and asynchronous bodies in one world.
#include <gtest/gtest.h>
#include <fairlead/codelet.hpp>
#include <fairlead/completion.hpp>
#include <fairlead/error.hpp>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/sim/sim_world.hpp"
#include "backend/sim/timeline.hpp"
#include "front/flow/flow_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::backend {

namespace {

using Seen = std::vector<std::pair<std::string, std::int64_t>>;

/// Events at scheduled times.
class Scripted final : public Timeline::Member {
 public:
  Scripted(Timeline& timeline, std::string name, std::vector<std::int64_t> times, Seen& seen)
      : timeline_(timeline), name_(std::move(name)), times_(std::move(times)), seen_(seen) {
    number_ = timeline_.join(*this);
  }
  Time next() const noexcept override { return done_ == times_.size() ? Time::max() : Time(times_[done_]); }
  bool step() override {
    if (done_ == times_.size()) return false;
    timeline_.reaches(next());
    seen_.emplace_back(name_, times_[done_++]);
    return true;
  }
  /// Another component completes this.
  void bring(std::int64_t time) {
    times_.push_back(time);
    timeline_.changed(number_);
  }
  std::uint32_t number() const noexcept { return number_; }

 private:
  Timeline& timeline_;
  const std::string name_;
  std::vector<std::int64_t> times_;
  std::size_t done_ = 0;
  Seen& seen_;
  std::uint32_t number_ = 0;
};

/// One worker, on which tasks that change the same datum run one after the other.
class OneRank {
 public:
  OneRank(std::string name, Timeline* timeline, Duration each, Seen& seen)
      : world_(options(std::move(name), timeline, each, seen)),
        core_({.topology = out_of_core_topology(1, Bytes{1} << 20, 1e9, Duration{}),
               .policy = schedule::make_policy("eager"),
               .engine = {}},
              world_),
        flow_(core_) {
    core_.register_datum(datum_, {.bytes = 4096, .home = core_.topology().store()});
  }
  void submit(const CodeletInfo& codelet) {
    const front::Submission::Use use{&datum_, AccessMode::write};
    front::Submission submission;
    submission.codelet = &codelet;
    submission.uses = {&use, 1};
    flow_.submit(submission);
  }
  void wait() { flow_.wait(); }

 private:
  SimOptions options(std::string name, Timeline* timeline, Duration each, Seen& seen) {
    SimOptions options;
    options.duration = [each](const Task&, WorkerId) { return each; };
    options.timeline = timeline;
    options.run_bodies = true;
    options.on_end = [this, name = std::move(name), &seen](Task&, WorkerId, bool succeeded) {
      seen.emplace_back(succeeded ? name : name + " failed", world_.now().count());
    };
    return options;
  }

  SimWorld world_;
  engine::RuntimeCore core_;
  engine::RegisteredDatum datum_;
  front::FlowSource flow_;
};

CodeletInfo with_body(void (*run)(const void*, TaskContext&), const void* body, bool asynchronous) {
  CodeletInfo codelet;
  codelet.name = "body";
  codelet.implementations[0] = {run, std::shared_ptr<const void>(body, [](const void*) {}), asynchronous};
  return codelet;
}
void nothing_to_do(const void*, TaskContext&) {}

/// Stores its token for the test.
void leave_token(const void* body, TaskContext& context) {
  auto& left = *static_cast<std::optional<Completion>*>(const_cast<void*>(body));
  left.emplace(context);
  left->body_returned(nullptr);
}
void signal_token(const void* body, TaskContext&) {
  (*static_cast<const std::optional<Completion>*>(body))->done();
}

}  // namespace

// Events at the same time occur in the order in which the worlds joined.
TEST(Timeline, EndsBeforeItsNumbersDo) {
  Timeline timeline;
  Seen seen;
  Scripted late(timeline, "late", {5, end_of_virtual_time.count()}, seen);
  EXPECT_TRUE(timeline.step());
  EXPECT_THROW(timeline.step(), Error);
  EXPECT_EQ(timeline.now(), Time(5));
}

TEST(Timeline, ProcessesTheNextEventOfAnyWorld) {
  Timeline timeline;
  Seen seen;
  Scripted a(timeline, "a", {3, 6, 9}, seen);
  EXPECT_TRUE(timeline.step());  // alone so far
  Scripted b(timeline, "b", {4, 6, 6}, seen), c(timeline, "c", {}, seen);
  EXPECT_TRUE(timeline.step());
  c.bring(5);
  while (timeline.step()) {
  }
  EXPECT_EQ(seen, (Seen{{"a", 3}, {"b", 4}, {"c", 5}, {"a", 6}, {"b", 6}, {"b", 6}, {"a", 9}}));
  EXPECT_EQ(timeline.now(), Time(9));
  a.bring(12);
  b.bring(11);
  timeline.leave(a.number());
  EXPECT_TRUE(timeline.step());
  EXPECT_FALSE(timeline.step());
  EXPECT_EQ(seen.back(), (std::pair<std::string, std::int64_t>("b", 11)));
}

// A waiting world drives the others as well: their tasks end at the right time.
TEST(Timeline, IsSharedByWorldsWithSeparateEngines) {
  Timeline timeline;
  Seen seen;
  const CodeletInfo codelet = with_body(nothing_to_do, nullptr, false);
  OneRank slow("slow", &timeline, Duration(3), seen), fast("fast", &timeline, Duration(2), seen);
  for (int i = 0; i < 3; ++i) slow.submit(codelet);
  for (int i = 0; i < 5; ++i) fast.submit(codelet);
  slow.wait();
  EXPECT_EQ(
      seen,
      (Seen{{"fast", 2}, {"slow", 3}, {"fast", 4}, {"slow", 6}, {"fast", 6}, {"fast", 8}, {"slow", 9}}));
  fast.wait();
  EXPECT_EQ(seen.back(), (std::pair<std::string, std::int64_t>("fast", 10)));
}

// The worker runs other tasks; tasks that need the result wait for the token.
TEST(SimulatedAsynchronousBodies, CompleteWhenAnotherBodySignals) {
  Timeline timeline;
  Seen seen;
  std::optional<Completion> token;
  const CodeletInfo leaves = with_body(leave_token, &token, true),
                    signals = with_body(signal_token, &token, false),
                    plain = with_body(nothing_to_do, nullptr, false);
  OneRank first("first", &timeline, Duration(5), seen), second("second", &timeline, Duration(20), seen);
  first.submit(leaves);
  first.submit(plain);  // changes the same datum
  second.submit(signals);
  first.wait();
  EXPECT_EQ(seen, (Seen{{"second", 20}, {"first", 20}, {"first", 25}}));
}

// No other event is pending: the simulation waits for the thread.
TEST(SimulatedAsynchronousBodies, CompleteWhenAThreadSignals) {
  Seen seen;
  std::optional<Completion> token;
  std::atomic<bool> there{false};
  struct Both {
    std::optional<Completion>& token;
    std::atomic<bool>& there;
  } both{token, there};
  const CodeletInfo leaves = with_body(
      [](const void* body, TaskContext& context) {
        const auto& it = *static_cast<const Both*>(body);
        leave_token(&it.token, context);
        it.there.store(true);
        it.there.notify_one();
      },
      &both, true);
  OneRank rank("rank", nullptr, Duration(5), seen);
  std::thread other([&] {
    there.wait(false);
    token->fail(std::make_exception_ptr(Error("given up by the thread")));
  });
  rank.submit(leaves);
  EXPECT_THROW(rank.wait(), Error);
  other.join();
  EXPECT_EQ(seen, (Seen{{"rank failed", 5}}));
}

}  // namespace fairlead::backend
