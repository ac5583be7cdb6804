// The progress of task sources: the numbers of submitted and finished tasks.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

namespace fairlead::engine {

/// The progress of one source. Lives as long as the runtime: the thread that counts the last task may read it after the
/// source is gone; if it serves another source by then, that gets a spurious wake-up. The application's thread has a
/// separate count: it is awake when it counts, so it needs no locked instruction.
class SourceProgress {
 public:
  std::uint64_t done() const noexcept { return by_others_.load() + by_application_.load(); }

  void count_by_application(std::uint64_t tasks) noexcept {
    // release: a thread that sees the count sees the effects of the tasks. One writer.
    by_application_.store(by_application_.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
  }
  /// Returns true if the application may be waiting for this count and must be woken. For other threads. Sequentially
  /// consistent, like reached(): either this call sees the published own count, or reached() sees this count.
  bool count(std::uint64_t tasks) noexcept {
    return by_others_.fetch_add(tasks) + tasks + published_.load() >= target_.load();
  }

  // ---- application's thread

  /// Prepares for the next source: all tasks of the last one are counted.
  void begin_again() noexcept {
    by_others_.store(0);
    published_.store(0);
    by_application_.store(0);
  }
  /// From now on threads wake the application when this many tasks are finished.
  void set_target(std::uint64_t tasks) noexcept { target_.store(tasks); }
  void no_target() noexcept { target_.store(~std::uint64_t{0}); }
  /// As `done() >= tasks`. Call it before sleeping: it publishes the application's own count, from which other threads
  /// see how many tasks are missing.
  bool reached(std::uint64_t tasks) noexcept {
    const std::uint64_t own = by_application_.load(std::memory_order_relaxed);
    if (published_.load(std::memory_order_relaxed) != own) published_.store(own);
    return by_others_.load() + own >= tasks;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> by_others_{0};
  std::atomic<std::uint64_t> target_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> published_{0};  // by_application_, as last published to other threads
  alignas(64) std::atomic<std::uint64_t> by_application_{0};
};

/// All sources of a runtime. Used by the application's thread, except as stated for SourceProgress.
class Sources {
 public:
  std::uint32_t next_id() noexcept { return ids_++; }
  /// The progress object for a new source.
  SourceProgress& new_progress() {
    if (unused_.empty()) {
      if (unused_.capacity() <= all_.size()) unused_.reserve(2 * all_.size() + 8);
      return all_.emplace_back();
    }
    SourceProgress& progress = *unused_.back();
    unused_.pop_back();
    return progress;
  }
  /// Takes back the progress of a destroyed source, all of whose tasks are counted.
  void give_back(SourceProgress& progress) noexcept {
    done_by_former_ += progress.done();
    progress.begin_again();
    unused_.push_back(&progress);
  }

  void count_submitted(std::uint64_t tasks) noexcept {
    submitted_.store(submitted() + tasks, std::memory_order_relaxed);  // one writer
  }
  /// Any thread.
  std::uint64_t submitted() const noexcept { return submitted_.load(std::memory_order_relaxed); }
  bool all_over() const noexcept {
    std::uint64_t done = done_by_former_;
    for (const SourceProgress& progress : all_) done += progress.done();
    return done == submitted();
  }
  /// While a thread waits for all sources: every completion may be the last and wakes it.
  void wake_on_every_completion(bool wanted) noexcept {
    for (SourceProgress& progress : all_) wanted ? progress.set_target(0) : progress.no_target();
  }

 private:
  std::uint32_t ids_ = 0;
  std::atomic<std::uint64_t> submitted_{0};
  std::deque<SourceProgress> all_;
  std::vector<SourceProgress*> unused_;  // has capacity for all
  std::uint64_t done_by_former_ = 0;     // tasks of sources whose progress was given back
};

}  // namespace fairlead::engine
