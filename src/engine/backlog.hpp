// Sources that have more ready tasks than they have handed out: of millions that wait for nothing, or that one
// task has released, there are descriptors, and places in queues, for a batch or two at a time.
//
// Who asks. A worker that has run out of work, and has found nothing to steal, asks for itself. And whoever has
// entered the engine, as after every end that it is told of, asks as long as the policy holds fewer tasks than
// it can choose well from (it is hungry), unless he has tasks of his own in the direct lane: that may be any
// thread. One thread asks at a time; others that run out of work leave it to that one. Nobody asks under the
// engine's lock, since a source that is asked may take it, to tell what it has ahead; sources are added under
// it, too, so that no other lock is held while one is asked.
//
// Why nobody waits for ever. A source adds itself when it leaves something, at the end of a task or when it
// begins. (1) If the engine is told of that end, whoever does looks here after the release, and again when what
// he has posted was served, by him or by who had the lock, who looks here, too. Then either the policy holds
// enough, and some of it runs, as ready tasks always do in the end, and those ends are told; or it is hungry,
// and he asks. If somebody else is asking, what that one gets goes to the engine, too, or into a queue. (2) If
// it was a task of the direct lane, its worker runs what is in his queue, or others steal it, and whoever
// finds nothing more asks. (3) Before a worker sleeps he looks here, after he has said that he will. A source is
// taken off only by the one who asks, when it has said that there is nothing left, and nobody has added it since
// it was asked.
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
  /// Sources are there. Any thread; sequentially consistent: see (3).
  bool any() const noexcept { return count_.load() != 0; }
  /// The source has something left. Any thread.
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
  /// It is not asked any more, and nobody is asking it. A source that was ever added is forgotten before it
  /// goes: it may be here although others have been faster than who added it. Not under the engine's lock.
  void forget(TaskSource& source) noexcept {
    const std::lock_guard nobody_asks(asking_);
    const std::lock_guard guard(list_lock_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.source == &source; });
    count_.store(entries_.size());
  }
  /// Asks in turn until one has handed out something. False if none has, or another thread is asking.
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
  /// The next to be asked, which goes to the end.
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

  EngineLock asking_;                  // who has it asks
  EngineLock list_lock_;               // guards entries_
  std::vector<Entry> entries_;         // few
  std::atomic<std::size_t> count_{0};  // of entries_
};

}  // namespace fairlead::engine
