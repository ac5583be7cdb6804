// Tasks that are analysed once and run many times: each knows how many come before it and which come after,
// so that a run only counts down. What stays is small; a task has a descriptor only from when it is ready
// until it is over.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/task_source.hpp"
#include "engine/runtime_core.hpp"
#include "graph/graph.hpp"

namespace fairlead {

namespace front {
class RecordedTasks;
}

/// What several tasks have in common.
struct RecordedKind {
  front::RecordedTasks* of = nullptr;
  const CodeletInfo* codelet = nullptr;
  SubmitLine submitted_at;
  Bytes scratch_bytes = 0;
  std::int32_t priority = 0;
  std::uint32_t nodes_excluded = 0;
  float work = 0;
  std::uint16_t workers_wanted = 0;
  bool may_pass = false;  ///< they ask for nothing that the direct lane has not

  bool operator==(const RecordedKind&) const = default;
};

struct RecordedNode {
  std::int32_t wait = 0;  ///< predecessors that are not over; shared by all threads, as an atomic
  std::int32_t predecessors = 0;
  std::uint32_t first_successor = 0, successor_count = 0;
  std::uint32_t first_access = 0;
  std::uint16_t access_count = 0;
  bool passes = false;  ///< in the present generation of the lane
  const RecordedKind* kind = nullptr;
  std::byte* closure = nullptr;
};

namespace front {

class RecordedTasks {
 public:
  static constexpr std::uint32_t no_task = ~std::uint32_t{0};

  explicit RecordedTasks(TaskSource& source) noexcept : source_(source) {}
  RecordedTasks(const RecordedTasks&) = delete;
  RecordedTasks& operator=(const RecordedTasks&) = delete;
  ~RecordedTasks();

  /// A datum of the recording, and what the tasks so far do with it. As an epoch, of which only the address
  /// is used: there tasks of the lane find it.
  struct Use : graph::Epoch {
    engine::RegisteredDatum* datum = nullptr;
    DatumId id = no_id<DatumId>;
    std::uint32_t generation = 0;
    bool written = false;
    bool in_lane = false;
    std::uint32_t writer = no_task;
    std::vector<std::uint32_t> readers;  ///< since that
  };
  struct Insertion {
    engine::RegisteredDatum* datum;
    AccessMode mode;
  };

  /// The task comes after those that its data order it behind. Returns the bytes for its closure.
  std::byte* add(RecordedKind kind, std::span<const Insertion> insertions);
  /// The closure of the last task is filled.
  void added() noexcept {
    nodes_.back().kind = last_kind_;
    ++complete_;
  }
  /// False if something went wrong between the two: then it cannot run.
  bool complete() const noexcept { return complete_ == nodes_.size(); }
  bool writes(const engine::RegisteredDatum& datum) const;
  /// Stays as long as the tasks.
  void retain(const std::shared_ptr<const CodeletInfo>& codelet) {
    if (codelets_.empty() || codelets_.back() != codelet) codelets_.push_back(codelet);
  }
  /// No more are added; afterwards it can run.
  void seal();
  bool sealed() const noexcept { return sealed_; }
  std::size_t size() const noexcept { return nodes_.size(); }
  std::size_t initial_count() const noexcept { return initial_.size(); }
  std::deque<Use>& uses() noexcept { return uses_; }
  Bytes largest_footprint = 0;  ///< on the application's memory node
  bool uses_changed = false;    ///< some are in the lane that were not, or the other way round

  /// Before each run: the generation of the lane, or 0, and the first of as many names as there are tasks.
  void prepare(std::uint32_t lane, std::uint64_t first_id);
  /// For policies that plan over the graph: all get their descriptors at once.
  template <class F>
  void make_all(Recycler& recycler, F&& f) {
    for (RecordedNode& node : nodes_) {
      made_.push_back(&make(node, recycler));
      f(*made_.back());
    }
  }
  /// One of those that wait for nothing.
  Task& initial(std::size_t i, Recycler& recycler) { return descriptor(nodes_[initial_[i]], recycler); }
  /// The task is over: appends those that became ready to `ready`. Any thread.
  static void release(const Task& task, EventChain& ready, Recycler& recycler);

 private:
  Use& use_of(engine::RegisteredDatum& datum);
  Task& make(RecordedNode& node, Recycler& recycler);
  Task& descriptor(RecordedNode& node, Recycler& recycler) {
    return made_.empty() ? make(node, recycler) : *made_[static_cast<std::size_t>(&node - nodes_.data())];
  }

  struct RecordedAccess {
    std::uint32_t use;
    AccessMode mode;
  };
  TaskSource& source_;
  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;
  std::deque<RecordedKind> kinds_;
  const RecordedKind* last_kind_ = nullptr;
  std::pmr::monotonic_buffer_resource closures_;
  std::vector<RecordedNode> nodes_;
  std::vector<RecordedAccess> accesses_;
  std::vector<std::uint32_t> successors_, initial_;
  std::deque<Use> uses_;
  std::vector<Use*> use_at_;
  std::unordered_map<const engine::RegisteredDatum*, std::uint32_t> use_of_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // until it is sealed
  std::vector<Task*> made_;
  std::size_t complete_ = 0;
  bool sealed_ = false;
  std::uint32_t lane_ = 0;
  std::uint64_t first_id_ = 0;
};

}  // namespace front
}  // namespace fairlead
