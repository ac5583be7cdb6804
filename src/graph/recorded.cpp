// The blocks of recorded tasks, and their descriptors.
#include "graph/recorded.hpp"

#include <sys/mman.h>

#include <new>

namespace fairlead::graph {

static_assert(sizeof(RecordedTask) == 64);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // both compilers support it here
static_assert(offsetof(RecordedTask, passes) < RecordedTask::accesses_at);
#pragma GCC diagnostic pop

namespace {
constexpr std::align_val_t huge_page{std::size_t{2} << 20};
}

RecordedBlocks::~RecordedBlocks() {
  for (RecordedTask* chunk : chunks_) ::operator delete(chunk, huge_page);
}

std::uint32_t RecordedBlocks::add(std::size_t accesses, std::size_t closure_bytes) {
  const auto lines = static_cast<std::uint32_t>(
      (RecordedTask::closure_at(accesses) + closure_bytes + sizeof(RecordedTask) - 1) / sizeof(RecordedTask));
  if (lines_in_chunk - used_ < lines) {
    chunks_.reserve(chunks_.size() + 1);
    void* const chunk = ::operator new(lines_in_chunk * sizeof(RecordedTask), huge_page);
    // Optional. Only from the second chunk on: in small recordings, pages are allocated as they are used.
    if (!chunks_.empty()) madvise(chunk, lines_in_chunk * sizeof(RecordedTask), MADV_HUGEPAGE);
    chunks_.push_back(static_cast<RecordedTask*>(chunk));
    used_ = 0;
  }
  const auto place = static_cast<std::uint32_t>((chunks_.size() - 1) * lines_in_chunk + used_);
  new (&at(place)) RecordedTask;
  used_ += lines;
  return place;
}

Task& RecordedRun::make(RecordedTask& recorded, Recycler& recycler) {
  Task& task = recycler.take();
  const RecordedFamily& family = recorded.own_family();
  const std::size_t count = recorded.access_count;
  task.family = &family;
  static_cast<TaskTraits&>(task) = family.traits;
  task.begin(static_cast<TaskId>(first_id + recorded.number),
             count <= inline_accesses ? task.inline_access.data() : new Access[count], count);
  task.lazy = &recorded;
  task.fast_path_generation = recorded.passes ? fast_path : 0;
  Access* to = task.accesses_begin;
  const RecordedUse* const all_uses = uses.data();
  for (const RecordedAccess& recorded_access : std::span(recorded.accesses(), count)) {
    const RecordedUse& use = all_uses[recorded_access.use()];
    Access& access = *to++;
    access.task = &task;
    access.address = use.address;
    access.datum = use.datum;
    access.mode = recorded_access.mode();
    access.partials = access.partial = 0;
    access.is_packed_copy = use.packed;
    access.fresh = false;
  }
  return task;
}

void RecordedRun::keep(const PendingRelease& rest) {
  const std::lock_guard guard(mutex_);
  rests_.push_back(rest);
}

bool RecordedRun::more(ReadyTasks& ready) {
  while (next_initial_ < initial.size()) {
    if (ready.full()) return true;
    hand_out(blocks.at(initial[next_initial_++]), no_id<WorkerId>, Time{}, ready);
  }
  const std::lock_guard guard(mutex_);
  while (!rests_.empty() && resume(rests_.back(), ready)) rests_.pop_back();
  return !rests_.empty();
}

void RecordedRun::hand_to_engine(RecordedTask& task, WorkerId released_by, Time at, ReadyTasks& ready) {
  // stays false for the following tasks; with several threads it is false already and not written
  if (alone) alone = false;
  Task& described = describe(task, ready.recycler);
  described.worker = released_by;
  described.at = at;
  ready.add(described);
}

}  // namespace fairlead::graph
