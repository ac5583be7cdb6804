// Records a run in memory of a fixed size. Each thread that finishes tasks has its own ring; the engine has rings for
// copies, memory and waiting. Recording takes no locks and allocates nothing while tasks run, except for the name of
// each new kind of task. A full ring overwrites its oldest records; the snapshot states how many.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trace/records.hpp"
#include "trace/ring.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::trace {

/// a == b, for names of up to 16 letters without a call, since it is evaluated for every task.
[[gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  const std::size_t size = a.size();
  const auto same = [&]<class Word>(Word) {
    Word first[2], last[2];
    std::memcpy(&first[0], a.data(), sizeof(Word));
    std::memcpy(&first[1], b.data(), sizeof(Word));
    std::memcpy(&last[0], a.data() + size - sizeof(Word), sizeof(Word));
    std::memcpy(&last[1], b.data() + size - sizeof(Word), sizeof(Word));
    return first[0] == first[1] && last[0] == last[1];
  };
  if (size > 16) return a == b;
  if (size >= 8) return same(std::uint64_t{});
  if (size >= 4) return same(std::uint32_t{});
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

/// The tasks that one thread finished.
class alignas(64) TaskTracer {
 public:
  explicit TaskTracer(std::size_t bytes) : ring_(bytes) {}

  /// Sets `task.codelet`. Called by the owner thread only.
  void add(TaskRecord task, const CodeletInfo& codelet) {
    task.codelet = number_of(codelet);
    ring_.push(PackedTask::of(task));
  }
  /// As above, for one of several implementations; each has a name of its own, "gemm (blas)".
  void add(TaskRecord task, const CodeletInfo& codelet, WorkerKind kind, std::uint8_t implementation);
  /// The last `tasks` ran consecutively in this time and were not timed individually. Each gets an even share; the last
  /// one also gets the remainder. Called by the owner thread only.
  void share_time(std::size_t tasks, Time begin, Time end) noexcept {
    const Duration each = (end - begin) / static_cast<std::int64_t>(tasks);
    for (std::size_t back = 0; back < std::min(tasks, ring_.size()); ++back) {
      const Time start = begin + each * static_cast<std::int64_t>(tasks - 1 - back);
      ring_.before_last(back).share(start, back == 0 ? end - start : each);
    }
  }
  const Ring<PackedTask>& ring() const noexcept { return ring_; }
  const std::deque<std::string>& names() const noexcept { return names_; }

 private:
  struct Known {
    const void* what = nullptr;  // a codelet, or one of its implementations
    std::string_view name;       // points into names_
    std::uint16_t number = 0;
  };
  /// Identified by name as well as address: the codelet may be destroyed before the trace is written, and its address
  /// reused.
  std::uint16_t number_of(const CodeletInfo& codelet) {
    Known& known = known_[place(&codelet)];
    if (known.what != &codelet || !same_text(known.name, codelet.name)) known = look_up(codelet);
    return known.number;
  }
  /// Its index in `known_`. The upper bits of a product depend on all bits of the address, so collisions are rare.
  static std::size_t place(const void* what) noexcept {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what));
    return (address * 0x9e37'79b9'7f4a'7c15) >> 58;
  }
  Known look_up(const CodeletInfo& codelet);
  std::uint16_t number_of_name(const std::string& wanted);

  Ring<PackedTask> ring_;
  std::array<Known, 64> known_{};
  std::deque<std::string> names_;  // a deque, for stable addresses
};

class Tracer {
 public:
  /// `bytes`: the total memory; `threads`: the number of threads that finish tasks.
  Tracer(Bytes bytes, std::size_t threads);

  TaskTracer& thread(std::size_t i) noexcept { return threads_[i]; }

  // ---- engine, under its lock

  void copy(const CopyRecord& record) noexcept { copies_.push(record); }
  void wait(const WaitRecord& record) noexcept { waits_.push(record); }
  /// Stored only if it differs from the node's last record.
  void memory(const MemoryRecord& record) {
    const std::size_t node = index(record.node);
    if (node >= last_use_.size()) last_use_.resize(node + 1);
    if (last_use_[node].same_use(record)) return;
    last_use_[node] = record;
    memory_.push(record);
  }

  // ---- application's thread

  /// A named period of the run has ended.
  void phase(Phase phase) { phases_.push_back(std::move(phase)); }
  /// All stored records, in order of time; the caller adds the names of machine and data. Only while no task runs,
  /// under the engine's lock.
  Snapshot snapshot();
  bool ever_taken() const noexcept { return taken_; }

 private:
  std::deque<TaskTracer> threads_;
  Ring<CopyRecord> copies_;
  Ring<MemoryRecord> memory_;
  Ring<WaitRecord> waits_;
  std::vector<MemoryRecord> last_use_;  // by NodeId
  std::vector<Phase> phases_;
  bool taken_ = false;
};

}  // namespace fairlead::trace
