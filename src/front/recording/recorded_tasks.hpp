// Recorded tasks: dependencies are analysed once, and the tasks run many times. This class collects them;
// graph/recorded.hpp runs them.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/runtime_core.hpp"
#include "graph/recorded.hpp"

namespace fairlead::front {

class RecordedTasks {
 public:
  static constexpr std::uint32_t no_task = ~std::uint32_t{0};

  explicit RecordedTasks(TaskSource& source) : source_(source) {}
  RecordedTasks(const RecordedTasks&) = delete;
  RecordedTasks& operator=(const RecordedTasks&) = delete;
  ~RecordedTasks();

  /// A datum of the recording, and its accesses by the tasks recorded so far.
  struct Use {
    engine::RegisteredDatum* datum = nullptr;
    std::uint32_t generation = 0;
    bool written = false;
    bool in_fast_path = false;
    std::uint32_t writer = no_task;
    std::vector<std::uint32_t> readers;  ///< since the last write
  };
  struct Insertion {
    engine::RegisteredDatum* datum;
    AccessMode mode;
  };

  /// Adds a task after the tasks that its data depend on. Returns the storage of its closure.
  std::byte* add(const TaskTraits& traits, std::span<const Insertion> insertions);
  /// The closure of the last added task is complete.
  void added() noexcept {
    run.blocks.at(places_.back()).family = last_family_;
    ++complete_;
  }
  /// False if an error occurred between add() and added(): then the recording cannot run.
  bool complete() const noexcept { return complete_ == places_.size(); }
  bool writes(const engine::RegisteredDatum& datum) const;
  /// Keeps the codelet alive as long as the tasks.
  void retain(const std::shared_ptr<const CodeletInfo>& codelet) {
    if (codelets_.empty() || codelets_.back() != codelet) codelets_.push_back(codelet);
  }
  /// Ends recording; afterwards the tasks can run.
  void seal();
  bool sealed() const noexcept { return sealed_; }
  std::size_t size() const noexcept { return places_.size(); }
  /// Indexed by the numbers in accesses.
  std::vector<Use>& uses() noexcept { return uses_; }
  DatumId id_of(std::size_t use) const noexcept { return run.uses[use].datum; }

  graph::RecordedRun run;
  Bytes largest_footprint = 0;  ///< bytes on the memory node where the program's accesses take place
  /// The value of RuntimeCore::data_changes() when all data were last checked, for fast-path generation `run.fast_path`.
  std::uint64_t data_seen = ~std::uint64_t{0};
  std::string flow_file_lines;  ///< the tasks' lines, if the runtime has a FlowFileWriter
  bool uses_changed = false;    ///< some data have entered or left the fast path

  /// Called before each run. `fast_path`: the generation of the fast path, or 0. `first_id`: the first of size() task ids.
  void prepare(std::uint32_t fast_path, std::uint64_t first_id, bool one_worker);
  /// For policies that plan over the graph: makes the descriptors of all tasks at once.
  template <class F>
  void make_all(Recycler& recycler, F&& f) {
    for (const std::uint32_t place : places_) {
      Task& task = run.make(run.blocks.at(place), recycler);
      run.made.push_back(&task);
      f(task);
    }
  }

 private:
  std::uint32_t use_of(engine::RegisteredDatum& datum);
  const graph::RecordedFamily& family_of(const TaskTraits& traits, std::size_t accesses);

  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;
  TaskSource& source_;
  std::deque<graph::RecordedFamily> families_;
  const graph::RecordedFamily* last_family_ = nullptr;
  std::vector<std::uint32_t> places_;
  std::vector<Use> uses_;
  std::unordered_map<const engine::RegisteredDatum*, std::uint32_t> use_of_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // between positions of tasks, until seal()
  std::size_t complete_ = 0;
  bool sealed_ = false;
  bool all_pass_ = false;
};

}  // namespace fairlead::front
