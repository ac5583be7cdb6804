// What could not be done at once at the end of a task: who has still to be told of it, and tasks that are ready
// and were not handed out.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/time.hpp"
#include "front/ptg/active_task.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/edge_ends.hpp"

namespace fairlead::ptg {

/// The end of a task, as far as it has been told to those who wait for it.
struct Telling {
  ActiveTask* over = nullptr;
  WorkerId worker = no_id<WorkerId>;
  Time at{};
  std::size_t told = 0, edge = 0;       ///< of TableClass::told, and of that flow's edges
  bool in_edge = false;                 ///< `walk` is at one who has not been told
  bool counted = false;                 ///< over ranks: who has its values is counted already
  std::size_t until = ~std::size_t{0};  ///< the first of TableClass::told that is not told of
  Walk walk;
  Numbers numbers;    ///< not initialized
  StatedEnds stated;  ///< of the flow that is told of, if its edges may repeat
};

/// A task all of whose inputs have come, and who ended the last of those before it, when.
struct Satisfied {
  ActiveTask* task = nullptr;
  WorkerId worker = no_id<WorkerId>;
  Time at{};
};

/// Over ranks: an output of another rank's task has come.
struct Came {
  std::uint64_t task = 0;
  std::uint8_t flow = 0;
  std::uint32_t number = no_value;  ///< of the value
  bool passed_on = false;           ///< others get it from here
};

/// Any thread's.
class LeftOver {
 public:
  bool none() const noexcept { return count_.load() == 0; }
  void keep(const Telling& telling) { keep_in(tellings_, telling); }
  void keep(const Satisfied& ready) { keep_in(ready_, ready); }
  void keep(const Came& came) { keep_in(came_, came); }
  /// The value with that number is with all on other ranks to whom it goes.
  void keep_given(std::uint32_t number) { keep_in(given_, number); }
  /// It had starved ahead of what runs.
  void keep_ahead(ActiveTask& task) { keep_in(ahead_, &task); }
  /// One of each, the first that was kept. It counts as left until done() is called. False if there is none.
  bool take(Telling& telling) { return take_from(tellings_, telling); }
  bool take(Satisfied& ready) { return take_from(ready_, ready); }
  /// told_of() says that its tasks have heard of it.
  bool take(Came& came) {
    const std::lock_guard guard(mutex_);
    const bool found = take_first(came_, came);
    came_in_hand_ += found;
    return found;
  }
  void told_of(const Came&) noexcept {
    {
      const std::lock_guard guard(mutex_);
      --came_in_hand_;
    }
    done();
  }
  /// Not while anything that has come is left, or in somebody's hand: the value may have come before it was given on.
  bool take_given(std::uint32_t& number) {
    const std::lock_guard guard(mutex_);
    return came_.empty() && came_in_hand_ == 0 && take_first(given_, number);
  }
  bool take_ahead(ActiveTask*& task) { return take_from(ahead_, task); }
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
  std::mutex mutex_;  // guards what follows
  std::deque<Telling> tellings_;
  std::deque<Satisfied> ready_;
  std::deque<Came> came_;
  std::size_t came_in_hand_ = 0;
  std::deque<std::uint32_t> given_;
  std::deque<ActiveTask*> ahead_;
};

}  // namespace fairlead::ptg
