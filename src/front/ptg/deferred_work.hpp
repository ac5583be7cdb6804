// Work that a finishing task could not complete at once: interrupted notifications of its successors, and ready tasks
// that were not handed out.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/time.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/task_instance.hpp"

namespace fairlead::ptg {

/// The state of notifying the successors of a finished task. It can be interrupted and resumed.
struct CompletionNotice {
  TaskInstance* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  Time at{};
  std::size_t flow_position = 0,
              edge = 0;  ///< position in TableClass::notified_flows, and in that flow's edges
  bool in_edge = false;  ///< `walk` is at a receiver that is not notified yet
  bool counted = false;  ///< with several ranks: the readers of its values are already counted
  std::size_t flow_end =
      ~std::size_t{0};  ///< end of the positions in TableClass::notified_flows that are processed
  Walk walk;
  Numbers numbers;    ///< not initialized
  StatedEnds stated;  ///< the receivers of the current flow, if its edges may repeat
};

/// A task with all inputs, and the worker and time at which its last predecessor finished.
struct ReadyTask {
  TaskInstance* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  Time at{};
};

/// With several ranks: an output of another rank's task has arrived. `flow` is the number of the output
/// (TableClass::output).
struct ArrivedOutput {
  std::uint64_t task = 0;
  std::uint8_t output = 0;
  std::uint32_t number = no_value;  ///< of the value
  bool forwarded = false;           ///< it is sent on from here to other ranks
};

/// Queues of deferred work. Thread-safe.
class DeferredWork {
 public:
  /// True if no entry is queued or being processed. Any thread.
  bool none() const noexcept { return count_.load() == 0; }
  void keep(const CompletionNotice& notice) { keep_in(notices_, notice); }
  void keep(const ReadyTask& ready) { keep_in(ready_, ready); }
  void keep(const ArrivedOutput& came) { keep_in(came_, came); }
  /// All receivers on other ranks have the value with this number.
  void keep_delivered(std::uint32_t number) { keep_in(given_, number); }
  /// The task waited for a fresh datum during lookahead.
  void keep_ahead(TaskInstance& task) { keep_in(ahead_, &task); }
  /// The take functions return the oldest entry, or false if there is none. The entry counts as left over until
  /// done() is called.
  bool take(CompletionNotice& notice) { return take_from(notices_, notice); }
  bool take(ReadyTask& ready) { return take_from(ready_, ready); }
  /// Call arrival_processed(), instead of done(), when the receivers on this rank have been notified.
  bool take(ArrivedOutput& came) {
    const std::lock_guard guard(mutex_);
    const bool found = take_first(came_, came);
    came_in_hand_ += found;
    return found;
  }
  void arrival_processed(const ArrivedOutput&) noexcept {
    {
      const std::lock_guard guard(mutex_);
      --came_in_hand_;
    }
    done();
  }
  /// Returns nothing while arrivals are queued or being processed: the value may have arrived here and been sent on
  /// from here.
  bool take_delivered(std::uint32_t& number) {
    const std::lock_guard guard(mutex_);
    return came_.empty() && came_in_hand_ == 0 && take_first(given_, number);
  }
  bool take_ahead(TaskInstance*& task) { return take_from(ahead_, task); }
  void done() noexcept { --count_; }

 private:
  template <class T>
  void keep_in(std::deque<T>& list, const T& object) {
    const std::lock_guard guard(mutex_);
    list.push_back(object);
    ++count_;
  }
  template <class T>
  bool take_from(std::deque<T>& list, T& object) {
    const std::lock_guard guard(mutex_);
    return take_first(list, object);
  }
  template <class T>
  static bool take_first(std::deque<T>& list, T& object) {
    if (list.empty()) return false;
    object = list.front();
    list.pop_front();
    return true;
  }

  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;  // guards the members below
  std::deque<CompletionNotice> notices_;
  std::deque<ReadyTask> ready_;
  std::deque<ArrivedOutput> came_;
  std::size_t came_in_hand_ = 0;
  std::deque<std::uint32_t> given_;
  std::deque<TaskInstance*> ahead_;
};

}  // namespace fairlead::ptg
