// How far the sources of tasks are: what was submitted and what is over.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

namespace fairlead::engine {

/// How far a source of tasks is. Lives as long as the runtime, since the thread that counts the last task may
/// still look at it when the source is gone; by then it may be another's, whom that wakes for nothing. What
/// the application's thread completes has a count of its own: that thread is awake then, so that no locked
/// instruction is needed.
class Progress {
 public:
  std::uint64_t done() const noexcept { return by_others_.load() + by_application_.load(); }

  void count_by_application(std::uint64_t tasks) noexcept {
    // release: whoever sees the count sees what the tasks did. One writer.
    by_application_.store(by_application_.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
  }
  /// True if the application may be waiting for this: then it has to be nudged. Any other thread.
  /// Sequentially consistent, like what reached() does: either we see what it has told, or it sees the count.
  bool count(std::uint64_t tasks) noexcept {
    return by_others_.fetch_add(tasks) + tasks + told_.load() >= target_.load();
  }

  // ---- the application's thread's

  /// For the next source: all tasks of the last one are counted.
  void begin_again() noexcept {
    by_others_.store(0);
    told_.store(0);
    by_application_.store(0);
  }
  /// From now on threads nudge when so many are done.
  void set_target(std::uint64_t tasks) noexcept { target_.store(tasks); }
  void no_target() noexcept { target_.store(~std::uint64_t{0}); }
  /// The same as `done() >= tasks`; to be asked before going to sleep, so that others know how many they
  /// lack.
  bool reached(std::uint64_t tasks) noexcept {
    const std::uint64_t own = by_application_.load(std::memory_order_relaxed);
    if (told_.load(std::memory_order_relaxed) != own) told_.store(own);
    return by_others_.load() + own >= tasks;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> by_others_{0};
  std::atomic<std::uint64_t> target_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> told_{0};  // by_application_, when others last had to know it
  alignas(64) std::atomic<std::uint64_t> by_application_{0};
};

/// All sources of a runtime. The application's thread's, but for what Progress says.
class Sources {
 public:
  std::uint32_t next_id() noexcept { return ids_++; }
  /// For a source that begins.
  Progress& new_progress() {
    if (unused_.empty()) {
      if (unused_.capacity() <= all_.size()) unused_.reserve(2 * all_.size() + 8);
      return all_.emplace_back();
    }
    Progress& progress = *unused_.back();
    unused_.pop_back();
    return progress;
  }
  /// All tasks of its source are counted, and the source is gone.
  void give_back(Progress& progress) noexcept {
    done_by_former_ += progress.done();
    progress.begin_again();
    unused_.push_back(&progress);
  }

  void count_submitted(std::uint64_t tasks) noexcept { submitted_ += tasks; }
  std::uint64_t submitted() const noexcept { return submitted_; }
  bool all_over() const noexcept {
    std::uint64_t done = done_by_former_;
    for (const Progress& progress : all_) done += progress.done();
    return done == submitted_;
  }
  /// While somebody waits for all of them: every completion may be the last.
  void nudge_always(bool wanted) noexcept {
    for (Progress& progress : all_) wanted ? progress.set_target(0) : progress.no_target();
  }

 private:
  std::uint32_t ids_ = 0;
  std::uint64_t submitted_ = 0;
  std::deque<Progress> all_;
  std::vector<Progress*> unused_;     // has space for all
  std::uint64_t done_by_former_ = 0;  // by sources whose progress was given back
};

}  // namespace fairlead::engine
