// The trace records of a run: one small record for each activity or change. Times are those of the run's clock, real or
// simulated.
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace fairlead::trace {

/// A finished task.
struct TaskRecord {
  static constexpr std::size_t data_kept = 3;

  std::int64_t start_ns = 0;
  std::uint32_t duration_low = 0;  ///< low bits of a 48-bit duration in nanoseconds (three days)
  std::uint16_t duration_high = 0;
  WorkerId worker = no_id<WorkerId>;
  /// of more data, the first two and the last, which is usually written
  std::array<DatumId, data_kept> data{};
  /// index of the names of the thread's tracer; in a snapshot, of the snapshot's names
  std::uint16_t codelet = 0;
  std::uint8_t data_count = 0;  ///< number of data that the task used
  std::uint8_t flags = 0;       ///< bit k: it wrote data[k]; the two highest: see below

  static constexpr std::uint8_t failed_flag = 0x80;
  static constexpr std::uint8_t shared_flag = 0x40;  // timed together with consecutive tasks: an even share
  Time start() const noexcept { return Time(start_ns); }
  Duration duration() const noexcept {
    return Duration(static_cast<std::int64_t>(duration_low) | static_cast<std::int64_t>(duration_high) << 32);
  }
  void set_duration(Duration duration) noexcept {
    duration_low = static_cast<std::uint32_t>(duration.count());
    duration_high = static_cast<std::uint16_t>(duration.count() >> 32);
  }
  Time end() const noexcept { return start() + duration(); }
  std::size_t kept() const noexcept { return data_count < data_kept ? data_count : data_kept; }
  bool changed(std::size_t k) const noexcept { return ((flags >> k) & 1) != 0; }
  bool failed() const noexcept { return (flags & failed_flag) != 0; }
  bool shares_time() const noexcept { return (flags & shared_flag) != 0; }
};

/// A TaskRecord as stored in a ring: half a cache line, written with four stores.
class PackedTask {
 public:
  static PackedTask of(const TaskRecord& task) noexcept {
    PackedTask packed;
    const auto word = [](auto value, unsigned shift = 0) {
      return static_cast<std::uint64_t>(value) << shift;
    };
    packed.words_[0] = word(task.start_ns);
    packed.words_[1] = word(task.duration_low) | word(task.duration_high, 32) | word(task.worker, 48);
    packed.words_[2] = word(task.data[0]) | word(task.data[1], 32);
    packed.words_[3] =
        word(task.data[2]) | word(task.codelet, 32) | word(task.data_count, 48) | word(task.flags, 56);
    return packed;
  }
  /// Sets an even share of a time that was measured for several tasks.
  void share(Time start, Duration duration) noexcept {
    words_[0] = static_cast<std::uint64_t>(start.count());
    words_[1] = (words_[1] >> 48 << 48) | static_cast<std::uint64_t>(duration.count());
    words_[3] |= std::uint64_t{TaskRecord::shared_flag} << 56;
  }
  TaskRecord task() const noexcept {
    TaskRecord task;
    task.start_ns = static_cast<std::int64_t>(words_[0]);
    task.duration_low = static_cast<std::uint32_t>(words_[1]);
    task.duration_high = static_cast<std::uint16_t>(words_[1] >> 32);
    task.worker = static_cast<WorkerId>(words_[1] >> 48);
    task.data = {static_cast<DatumId>(words_[2] & 0xffff'ffff), static_cast<DatumId>(words_[2] >> 32),
                 static_cast<DatumId>(words_[3] & 0xffff'ffff)};
    task.codelet = static_cast<std::uint16_t>(words_[3] >> 32);
    task.data_count = static_cast<std::uint8_t>(words_[3] >> 48);
    task.flags = static_cast<std::uint8_t>(words_[3] >> 56);
    return task;
  }

 private:
  std::array<std::uint64_t, 4> words_;
};
static_assert(sizeof(PackedTask) == 32);

/// A transfer of bytes over one link. A copy over two links has two records.
struct CopyRecord {
  Time start{};  ///< handed to the link, where it may be queued
  Duration duration{};
  Bytes bytes = 0;
  DatumId datum = no_id<DatumId>;
  LinkId link = no_id<LinkId>;
  /// the ends of the copy, which may extend beyond this link
  NodeId from = no_id<NodeId>, to = no_id<NodeId>;
  std::uint8_t cause = 0;      ///< memory::Cause
  bool away_from_home = true;  ///< direction: from the link's first node to its second
  bool failed = false;

  Time end() const noexcept { return start + duration; }
};

/// The use of a memory node's bytes from this time on. The remaining bytes are free.
struct MemoryRecord {
  Time at{};
  NodeId node = no_id<NodeId>;
  Bytes by_tasks = 0;    ///< of tasks that run or are about to
  Bytes prefetched = 0;  ///< transferred or in flight, before a task needs them
  Bytes leaving = 0;     ///< being written back to make space
  Bytes cached = 0;      ///< kept for reuse

  bool same_use(const MemoryRecord& other) const noexcept {
    return by_tasks == other.by_tasks && prefetched == other.prefetched && leaving == other.leaving &&
           cached == other.cached;
  }
};

/// A period in which a worker had no task to run.
struct WaitRecord {
  enum class For : std::uint8_t {
    tasks,  // no task was ready for it
    data,   // it had a task with data in flight
  };
  Time start{};
  Duration duration{};
  WorkerId worker = no_id<WorkerId>;
  For reason = For::tasks;

  Time end() const noexcept { return start + duration; }
};

/// A transfer of a value between two ranks, as seen by one of them.
struct TransferRecord {
  static constexpr std::uint32_t several = ~std::uint32_t{0};

  Time start{};                  ///< when it was requested, here or by a receiver
  Duration duration{};           ///< until it arrived, here or at all receivers
  std::uint64_t value = 0;       ///< equal on all ranks that record it
  Bytes bytes = 0;               ///< 0: only receivers record the size
  std::uint32_t peer = several;  ///< the rank that sends it
  bool comes = true;             ///< incoming; false: outgoing

  Time end() const noexcept { return start + duration; }
};

}  // namespace fairlead::trace
