// See rehearsals.hpp.
#include "front/rehearsal/rehearsals.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/cpu/affinity.hpp"
#include "base/guarded_thread.hpp"
#include "front/rehearsal/play.hpp"

namespace fairlead::front {

namespace {

using engine::Options;

/// What both have. The policy's calls come one after the other, and begin() not before the last one was told over.
class SimulatedRehearsal : public Rehearsal {
 public:
  SimulatedRehearsal(const memory::Memory& memory, const View& view, Options::TellOver tell,
                     std::size_t idle_cores)
      : memory_(memory), view_(view), tell_(std::move(tell)), idle_cores_(idle_cores) {}

  std::size_t idle_cores() const noexcept final { return idle_cores_; }

  void give_up() noexcept final { stops_.store(true); }

 protected:
  /// For what was begun last, if anything still goes on.
  virtual void wait() {}
  virtual void play() = 0;
  /// Returns how many tasks were played one after the other.
  std::uint64_t find(SimulatedStage::Threads threads) {
    SimulatedStage stage(*script_, stops_, std::max<std::size_t>(1, idle_cores_), threads);
    over_.finding = judge_(stage);
    return stage.tasks_played();
  }
  const View& view() const noexcept { return view_; }
  void tell_over() { tell_(over_); }

 private:
  void note(std::span<Task* const> tasks, Judge judge) final {
    over_.finding = 0;
    try {
      wait();
      stops_.store(false);
      script_.emplace(memory_, view_, tasks);
      judge_ = std::move(judge);
      play();
    } catch (const std::bad_alloc&) {
      tell_(over_);  // the run does not need it
    } catch (const std::system_error&) {
      tell_(over_);  // no thread is to be had
    }
  }

  const memory::Memory& memory_;
  const View& view_;
  const Options::TellOver tell_;
  const std::size_t idle_cores_;
  std::atomic<bool> stops_{false};  // set by the policy, looked at by who plays
  // Written by the policy's thread before play(), read by who plays; over_ the other way round.
  std::optional<Script> script_;
  Judge judge_;
  RehearsalOver over_;
};

class ThreadedRehearsal final : public SimulatedRehearsal {
 public:
  using SimulatedRehearsal::SimulatedRehearsal;
  ~ThreadedRehearsal() override {
    give_up();
    wait();
  }
  ThreadedRehearsal(const ThreadedRehearsal&) = delete;
  ThreadedRehearsal& operator=(const ThreadedRehearsal&) = delete;

 private:
  void wait() final {
    if (thread_.joinable()) thread_.join();  // it has told already: its last line
  }
  void play() override {
    thread_ = guarded_thread(
        [this] {
          anywhere_.again();
          only_when_a_core_is_free();
          try {
            find(SimulatedStage::Threads::real);
          } catch (const std::exception&) {
            // Nothing is found: for want of memory, say.
          }
          tell_over();
        },
        ignore_failure);
  }
  /// What a better policy could save is the time in which workers wait, and then a core is free. Threads that this
  /// one starts inherit it.
  static void only_when_a_core_is_free() noexcept {
    constexpr int last_of_all = 19;
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), last_of_all));
  }
  // Of the thread that made the runtime: one that begins a rehearsal may be a worker, who keeps to his core.
  const backend::UnitsOfThread anywhere_;
  std::thread thread_;
};

class TimedRehearsal final : public SimulatedRehearsal {
 public:
  TimedRehearsal(const memory::Memory& memory, const View& view, Options::TellOver tell,
                 std::size_t idle_cores, backend::SimWorld& world)
      : SimulatedRehearsal(memory, view, std::move(tell), idle_cores), world_(world) {}

 private:
  /// Not at once: the policy's own time may be measured.
  void play() override {
    world_.after(Duration{}, [this] {
      const Duration each = cost_of_playing_a_task(view().nodes().size(), view().workers().size());
      world_.after(static_cast<std::int64_t>(find(SimulatedStage::Threads::pretended)) * each,
                   [this] { tell_over(); });
    });
  }
  backend::SimWorld& world_;
};

}  // namespace

decltype(Options::rehearsal) rehearsals_beside_the_run(std::size_t idle_cores) {
  return [idle_cores](const memory::Memory& memory, const View& view, Options::TellOver tell) {
    return std::make_unique<ThreadedRehearsal>(memory, view, std::move(tell), idle_cores);
  };
}

decltype(Options::rehearsal) rehearsals_in_virtual_time(backend::SimWorld& world, std::size_t idle_cores) {
  return [&world, idle_cores](const memory::Memory& memory, const View& view, Options::TellOver tell) {
    return std::make_unique<TimedRehearsal>(memory, view, std::move(tell), idle_cores, world);
  };
}

}  // namespace fairlead::front
