// The application's holds and pending acquires. An acquire that could never be granted is refused at once, and a wait
// for a hold of the waiting thread itself is an error instead of a deadlock (rule 9 of docs/memory.md).
#pragma once
#include <fairlead/detail/submission.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/task_source.hpp"
#include "engine/callbacks.hpp"
#include "graph/dependency_graph.hpp"

namespace fairlead::engine {

class RuntimeCore;
struct RegisteredDatum;

/// One acquire, from the request to its release.
struct OpenHold : HoldRelease, std::enable_shared_from_this<OpenHold> {
  enum class State : std::uint8_t {
    waiting,   // for its turn, for memory, for copies
    granted,   // the application may use the data
    refused,   // an input is poisoned, a copy failed, or the flow was cancelled
    released,  // or given up before it was granted
  };
  struct Use {
    RegisteredDatum* datum;
    AccessMode mode;
  };
  Task task;
  std::vector<Access> accesses;
  std::vector<Use> uses;                         ///< one per access
  std::vector<detail::DatumLocation> locations;  ///< set when granted; one per access
  std::exception_ptr failure;                    ///< set when refused because a copy failed
  std::atomic<State> state{State::waiting};
  std::atomic<bool> over{false};  ///< successors are released
  /// set when the (possibly late) notification of a grant is complete
  std::atomic<bool> grant_notified{false};
  bool of_application = false;   ///< the application's thread waits, or waited, for it
  bool releases_itself = false;  ///< released automatically when granted, so waits for it end
  std::atomic<bool> release_posted{false};
  const char* file = "";
  std::uint32_t line = 0;
  std::function<void()> callback;  ///< callback for the grant or refusal; run by Callbacks

  /// Whether the record can be destroyed: the hold has ended, the engine does not use it any more, and the notification
  /// of its grant is complete.
  bool is_unused() const noexcept {
    if (!over.load(std::memory_order_acquire) || state.load() == State::granted) return false;
    if (!release_posted.load()) return true;
    return applied.load(std::memory_order_acquire) &&
           (!granted || grant_notified.load(std::memory_order_acquire));
  }
};

/// The task source of the holds of one flow.
class HoldSource final : public TaskSource {
 public:
  explicit HoldSource(RuntimeCore& core) noexcept : core_(core) {}
  void release(Task& hold, ReadyTasks& ready) override;
  void count(std::size_t holds, Recycler& recycler) override;
  void granted(Task& hold) override;

 private:
  void settle(OpenHold& record, OpenHold::State state);
  RuntimeCore& core_;
};

/// Used by the application's thread only, except release().
class HoldRegistry {
 public:
  explicit HoldRegistry(RuntimeCore& core) : core_(core) {}

  HoldSource& new_source();
  /// Records the footprint, as rounded by the allocator, of a task that needs memory on the host's node.
  void note_footprint(Bytes footprint) noexcept {
    if (footprint > largest_footprint_) largest_footprint_ = footprint;
  }
  bool none() const noexcept { return open_.empty(); }
  /// Whether the holds and pending acquires leave this much memory on the host's node.
  bool leave(Bytes footprint);
  /// Throws FootprintError, naming the holds, if they do not leave enough memory for what is about to be submitted. For
  /// a hold, the largest unfinished task must fit as well.
  void check_room(Bytes footprint, bool is_hold, const std::string& requester,
                  const detail::Submission& where);
  void add(std::shared_ptr<OpenHold> record);
  /// Releases a hold, or gives up an acquire that was not granted. Any thread, once.
  void release(OpenHold& record);

  /// Whether the application's thread has holds; then a wait may never end.
  bool own() const noexcept;
  /// Whether other threads have holds, which they may release at any time.
  bool others() const noexcept;
  bool holds(const RegisteredDatum& datum) noexcept;
  /// Whether some holds are about to end without an action of the program.
  bool some_end_by_themselves() const noexcept;
  /// Describes a hold for writing of the application's thread; empty if there is none.
  std::string held_for_writing() const;
  /// The number of holds and pending acquires.
  std::size_t open() noexcept;
  /// The holds of the application's thread, and the tasks that wait for them.
  std::string text() const;

 private:
  void forget_ended() noexcept;
  Bytes held_bytes() const;
  std::string describe(const OpenHold& record) const;

  RuntimeCore& core_;
  std::deque<HoldSource> sources_;
  std::vector<std::shared_ptr<OpenHold>> open_;
  Bytes largest_footprint_ = 0;  // since the last time when no task was unfinished
};

}  // namespace fairlead::engine
