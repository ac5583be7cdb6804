// A poller is polled whenever requested, also if the worker that polled it went to sleep in the meantime.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "backend/backend.hpp"

namespace fairlead {
namespace {

/// Completes the started task after a number of polls.
class Ears final : public backend::Poller {
 public:
  static constexpr int often = 50;  // more polls than those of a worker that does not stay

  bool poll() noexcept override {
    const std::unique_lock alone(mutex_, std::try_to_lock);
    if (!alone) return false;
    if (++looks_ < often || !begun_) return false;
    wanted_ = false;
    begun_->done();
    begun_.reset();
    return true;
  }
  bool is_active() const noexcept override { return wanted_; }

  void want(bool wanted) {
    looks_ = 0;
    wanted_ = wanted;
  }
  void begin(Completion completion) {
    const std::lock_guard guard(mutex_);
    looks_ = 0;
    begun_ = completion;
  }
  int looks() const { return looks_; }

 private:
  std::atomic<bool> wanted_{false};
  std::atomic<int> looks_{0};
  std::mutex mutex_;
  std::optional<Completion> begun_;
};

template <class Of>
class LookoutBackend final : public backend::Backend {
 public:
  explicit LookoutBackend(Of& lookout) : lookout_(lookout) {}
  std::string_view kind() const noexcept override { return "lookout"; }
  std::unique_ptr<backend::BackendInstance> make() const override {
    return std::make_unique<LookoutPart>(lookout_);
  }

 private:
  class LookoutPart final : public backend::BackendInstance {
   public:
    explicit LookoutPart(Of& lookout) : lookout_(lookout) {}
    void attach(backend::BackendHost& site) override { site.set_poller(lookout_); }

   private:
    Of& lookout_;
  };
  Of& lookout_;
};

TEST(Poller, IsPolledWheneverRequested) {
  for (const std::uint64_t workers : {1, 2, 3}) {
    for (const std::uint64_t spin : {0, 50}) {
      Ears ears;
      Config config;
      config.set("workers", workers);
      config.set("memory", "1MiB");
      config.set("spin", spin);
      config.set("bind-threads", false);
      auto backends = backend::default_backends();
      backends.push_back(std::make_shared<LookoutBackend<Ears>>(ears));
      Runtime runtime(config, 0, backends);
      std::optional<Completion> begun;
      std::atomic<bool> runs{false};
      const auto begins = codelet("begins").cpu([&](Completion completion, InOut<int>) {
        begun = completion;
        runs = true;
      });
      int value = 0;
      const auto handle = runtime.value("v", value);
      for (int round = 0; round < 8; ++round) {
        Flow flow(runtime);
        if (workers > 1) {
          // A worker polls; the request ends; the worker goes to sleep.
          ears.want(true);
          runs = false;
          flow.submit(begins(handle));
          while (!runs || ears.looks() < Ears::often) std::this_thread::yield();
          ears.want(false);
          for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
               std::chrono::steady_clock::now() < end;)
            std::this_thread::yield();
          ears.begin(*begun);
          ears.want(true);
        } else {
          ears.want(true);
          flow.submit(codelet("waits").cpu(
              [&](Completion completion, InOut<int>) { ears.begin(completion); })(handle));
        }
        flow.wait();
      }
    }
  }
}

/// Has an event to report from the first task on.
class Mouth final : public backend::Poller {
 public:
  bool poll() noexcept override { return false; }
  bool is_active() const noexcept override { return true; }
  bool has_pending() const noexcept override { return to_say_; }
  void send_pending() noexcept override { to_say_ = false; }

  void want_to_say() { to_say_ = true; }

 private:
  std::atomic<bool> to_say_{false};
};

// Other ranks may wait for the event, even if this one is busy; polls are rarer than short tasks.
TEST(Poller, ReportsEventsBeforeTheFollowingTasks) {
  Mouth mouth;
  Config config;
  config.set("workers", 1);
  config.set("memory", "1MiB");
  config.set("bind-threads", false);
  auto backends = backend::default_backends();
  backends.push_back(std::make_shared<LookoutBackend<Mouth>>(mouth));
  Runtime runtime(config, 0, backends);
  int unsaid = 0, value = 0;
  const auto first = codelet("first").cpu([&](InOut<int>) { mouth.want_to_say(); });
  const auto others = codelet("others").cpu([&](InOut<int>) { unsaid += mouth.has_pending(); });
  const auto handle = runtime.value("v", value);
  Flow flow(runtime);
  flow.submit(first(handle));
  for (int i = 0; i < 200; ++i) flow.submit(others(handle));
  flow.wait();
  EXPECT_LE(unsaid, 16);  // the limit of tasks in a row
}

}  // namespace
}  // namespace fairlead
