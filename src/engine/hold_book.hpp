// Which data the application holds, or has asked for: so that what could never be given is refused at once,
// and a wait for what the waiting thread holds is told instead of hanging (rule 9 of docs/memory.md).
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
#include "graph/graph.hpp"

namespace fairlead::engine {

class RuntimeCore;
struct RegisteredDatum;

/// One acquire, from the request to the release.
struct OpenHold : HoldRelease, std::enable_shared_from_this<OpenHold> {
  enum class State : std::uint8_t {
    waiting,   // for its turn, for memory, for copies
    granted,   // the data are the application's
    refused,   // an input is poisoned, could not be brought, or the flow was cancelled
    released,  // or given up before it was granted
  };
  struct Use {
    RegisteredDatum* datum;
    AccessMode mode;
  };
  Task task;
  std::vector<Access> accesses;
  std::vector<Use> uses;              ///< one per access
  std::vector<detail::Place> places;  ///< once granted; likewise
  std::exception_ptr failure;         ///< refused: why, if a copy failed
  std::atomic<State> state{State::waiting};
  std::atomic<bool> over{false};        ///< what waited for it has been released
  std::atomic<bool> grant_told{false};  ///< if it was granted: whoever tells so, perhaps late, has done it
  bool of_application = false;          ///< the application's thread waits, or waited, for it
  bool passes_by_itself = false;  ///< it is let go as soon as it is granted: nobody waits for it in vain
  std::atomic<bool> release_posted{false};
  const char* file = "";
  std::uint32_t line = 0;
  std::function<void()> told;  ///< called when it is granted or refused, by Callbacks

  /// Over. The engine looks at it no more, and who tells of its grant, perhaps late, has done so.
  bool is_unused() const noexcept {
    if (!over.load(std::memory_order_acquire) || state.load() == State::granted) return false;
    if (!release_posted.load()) return true;
    return applied.load(std::memory_order_acquire) &&
           (!granted || grant_told.load(std::memory_order_acquire));
  }
};

/// The source of the holds of one flow.
class HoldSource final : public TaskSource {
 public:
  explicit HoldSource(RuntimeCore& core) noexcept : core_(core) {}
  void release(Task& hold, ReadyTasks& ready) override;
  void count(std::size_t holds, Recycler& recycler) override;
  void granted(Task& hold) override;

 private:
  void tell(OpenHold& record, OpenHold::State state);
  RuntimeCore& core_;
};

/// All of it is the application's thread's, but for release().
class HoldBook {
 public:
  explicit HoldBook(RuntimeCore& core) : core_(core) {}

  HoldSource& new_source();
  /// Every task is noted that needs memory on the host's node, as the allocator rounds it.
  void note_footprint(Bytes footprint) noexcept {
    if (footprint > largest_footprint_) largest_footprint_ = footprint;
  }
  bool none() const noexcept { return open_.empty(); }
  /// What is held, or asked for, leaves as much on the host's node.
  bool leave(Bytes footprint);
  /// Throws FootprintError naming the holds if they do not leave enough memory for what is about to be
  /// submitted, or, if that is a hold, not enough for it and the largest unfinished task together.
  void check_room(Bytes footprint, bool is_hold, const std::string& who, const detail::Submission& where);
  void add(std::shared_ptr<OpenHold> record);
  /// Lets go, or gives up if it was not granted. Any thread, once.
  void release(OpenHold& record);

  /// The application's thread holds something: then waits may be in vain.
  bool own() const noexcept;
  /// A thread that nobody can name holds something; it may release that at any time.
  bool others() const noexcept;
  bool holds(const RegisteredDatum& datum) noexcept;
  /// Some are about to end without anybody's doing.
  bool some_end_by_themselves() const noexcept;
  /// What the application's thread holds to change it, in words; empty if nothing.
  std::string held_for_writing() const;
  /// Asked for and not released.
  std::size_t open() noexcept;
  /// What is held, and which task waits for it.
  std::string text() const;

 private:
  void forget_ended() noexcept;
  Bytes held_bytes() const;
  std::string describe(const OpenHold& record) const;

  RuntimeCore& core_;
  std::deque<HoldSource> sources_;
  std::vector<std::shared_ptr<OpenHold>> open_;
  Bytes largest_footprint_ = 0;  // since all tasks were last over
};

}  // namespace fairlead::engine
