// What has to be looked after is, whenever it is wanted: also where the worker that did so went to sleep when it was not.
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

/// Ends the task that was begun when it has been looked at often enough since.
class Ears final : public backend::Lookout {
 public:
  static constexpr int often = 50;  // more than anybody looks who does not stay

  bool look() noexcept override {
    const std::unique_lock alone(mutex_, std::try_to_lock);
    if (!alone) return false;
    if (++looks_ < often || !begun_) return false;
    wanted_ = false;
    begun_->done();
    begun_.reset();
    return true;
  }
  bool wanted() const noexcept override { return wanted_; }

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

class EarsBackend final : public backend::Backend {
 public:
  explicit EarsBackend(Ears& ears) : ears_(ears) {}
  std::string_view kind() const noexcept override { return "ears"; }
  std::unique_ptr<backend::Part> make() const override { return std::make_unique<EarsPart>(ears_); }

 private:
  class EarsPart final : public backend::Part {
   public:
    explicit EarsPart(Ears& ears) : ears_(ears) {}
    void begin(backend::Site& site) override { site.watch(ears_); }

   private:
    Ears& ears_;
  };
  Ears& ears_;
};

TEST(Lookout, IsWatchedWheneverItIsWanted) {
  for (const std::uint64_t workers : {1, 2, 3}) {
    for (const std::uint64_t spin : {0, 50}) {
      Ears ears;
      Config config;
      config.set("workers", workers);
      config.set("memory", "1MiB");
      config.set("spin", spin);
      config.set("bind-threads", false);
      auto backends = backend::default_backends();
      backends.push_back(std::make_shared<EarsBackend>(ears));
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
          // A worker looks; nothing is wanted any more; he goes to sleep.
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

}  // namespace
}  // namespace fairlead
