// Task sources that have more ready tasks than they have handed out. Of millions of independent tasks, or of the many
// successors of one task, only a batch or two at a time have descriptors and places in queues.
//
// Which thread asks: a worker that has run out of work and found nothing to steal asks for itself. A thread
// that has entered the engine asks while the policy holds fewer tasks than it can choose well from (it is
// hungry), unless it has tasks of its own in the fast path (class FastPath). One thread asks at a time; the
// other threads do not ask. No thread asks under the engine's lock, since a source may take that lock to
// announce tasks. Sources are added under that lock, so no other lock may be held while a source is asked.
//
// Why no thread waits for ever: a source adds itself when tasks are left over, at the end of a task or when it starts.
// (1) If the engine is notified of that end, the notifying thread checks the backlog after the release, and again when
// its events have been served; if another thread served them, that thread checks, too. Then either the policy holds
// enough tasks, some of which run and end; or it is hungry, and the thread asks. If another thread is asking already,
// the tasks that it gets go to the engine or into a queue.
// (2) If the task ran in the fast path, its worker runs the tasks in its queue, or others steal them, and a worker that
// finds no more asks.
// (3) A worker checks the backlog before it sleeps, after it has announced that it will.
// Only the asking thread removes a source: one that reported that nothing is left, and was not added since it was
// asked.
#pragma once
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "data/task_source.hpp"
#include "engine/inbox.hpp"

namespace fairlead::engine {

class Backlog {
 public:
  /// Whether sources have tasks left. Any thread; sequentially consistent: see (3).
  bool any() const noexcept { return count_.load() != 0; }
  /// Adds a source that has tasks left. Any thread.
  void add(TaskSource& source) {
    const std::lock_guard guard(list_lock_);
    const auto entry = std::ranges::find(entries_, &source, &Entry::source);
    if (entry != entries_.end()) {
      entry->added_again = true;
    } else {
      entries_.push_back({&source});
    }
    count_.store(entries_.size());
  }
  /// Removes the source, and waits until no thread is asking it. Must be called before a source that was ever added is
  /// destroyed: it may still be listed if other threads took its tasks before it was added. Not under the engine's
  /// lock.
  void forget(TaskSource& source) noexcept {
    const std::lock_guard requests(asking_);
    const std::lock_guard guard(list_lock_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.source == &source; });
    count_.store(entries_.size());
  }
  /// Asks the sources in turn until one has handed out a task. Returns false if none has, or if another thread is
  /// asking.
  bool ask(ReadyTasks& ready) {
    if (!asking_.try_lock()) return false;
    const std::lock_guard asking(asking_, std::adopt_lock);
    while (ready.size() == 0) {
      TaskSource* const source = first();
      if (source == nullptr) return false;
      if (!source->more(ready)) take_off(*source);
    }
    return true;
  }

 private:
  struct Entry {
    TaskSource* source;
    bool added_again = false;  // since it was last asked
  };
  /// The source to ask next; moves it to the end of the list.
  TaskSource* first() noexcept {
    const std::lock_guard guard(list_lock_);
    if (entries_.empty()) return nullptr;
    std::rotate(entries_.begin(), entries_.begin() + 1, entries_.end());
    entries_.back().added_again = false;
    return entries_.back().source;
  }
  void take_off(TaskSource& source) noexcept {
    const std::lock_guard guard(list_lock_);
    std::erase_if(entries_,
                  [&](const Entry& entry) { return entry.source == &source && !entry.added_again; });
    count_.store(entries_.size());
  }

  EngineLock asking_;                  // held by the thread that asks
  EngineLock list_lock_;               // guards entries_
  std::vector<Entry> entries_;         // a short list
  std::atomic<std::size_t> count_{0};  // entries_.size(), readable without a lock
};

}  // namespace fairlead::engine
