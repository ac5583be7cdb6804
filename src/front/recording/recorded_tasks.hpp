// Tasks that are analysed once and run many times: here they are put together. How they run:
// graph/recorded.hpp.
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

  /// A datum of the recording, and what the tasks so far do with it.
  struct Use {
    engine::RegisteredDatum* datum = nullptr;
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
  std::byte* add(const TaskTraits& traits, std::span<const Insertion> insertions);
  /// The closure of the last task is filled.
  void added() noexcept {
    run.blocks.at(places_.back()).family = last_family_;
    ++complete_;
  }
  /// False if something went wrong between the two: then it cannot run.
  bool complete() const noexcept { return complete_ == places_.size(); }
  bool writes(const engine::RegisteredDatum& datum) const;
  /// Stays as long as the tasks.
  void retain(const std::shared_ptr<const CodeletInfo>& codelet) {
    if (codelets_.empty() || codelets_.back() != codelet) codelets_.push_back(codelet);
  }
  /// No more are added; afterwards it can run.
  void seal();
  bool sealed() const noexcept { return sealed_; }
  std::size_t size() const noexcept { return places_.size(); }
  /// By their numbers in accesses.
  std::vector<Use>& uses() noexcept { return uses_; }
  DatumId id_of(std::size_t use) const noexcept { return run.uses[use].datum; }

  graph::RecordedRun run;
  Bytes largest_footprint = 0;  ///< on the application's memory node
  /// RuntimeCore::data_changes when all data were last found as they have to be, in the lane `run.lane`.
  std::uint64_t data_seen = ~std::uint64_t{0};
  std::string written_down;   ///< if the runtime has a FlowFileWriter
  bool uses_changed = false;  ///< some are in the lane that were not, or the other way round

  /// Before each run: the generation of the lane, or 0, the first of as many names as there are tasks, and
  /// whether there is only one worker.
  void prepare(std::uint32_t lane, std::uint64_t first_id, bool one_worker);
  /// For policies that plan over the graph: all get their descriptors at once.
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // between places, until it is sealed
  std::size_t complete_ = 0;
  bool sealed_ = false;
  bool all_pass_ = false;
};

}  // namespace fairlead::front
