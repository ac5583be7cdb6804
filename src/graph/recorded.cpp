// See recorded.hpp.
#include "graph/recorded.hpp"

#include <sys/mman.h>

#include <new>

#include "data/ready.hpp"

namespace fairlead::graph {

static_assert(sizeof(RecordedTask) == 64);
static_assert(offsetof(RecordedTask, passes) < RecordedTask::accesses_at);

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
    // A wish. Small recordings stay small: their pages come one by one.
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
  const RecordedKind& kind = *recorded.kind;
  task.recorded = &recorded;
  task.codelet = kind.codelet;
  task.source = source;
  task.submitted_at = kind.submitted_at;
  task.scratch_bytes = kind.scratch_bytes;
  task.priority = kind.priority;
  task.nodes_excluded = kind.nodes_excluded;
  task.work = kind.work;
  task.workers_wanted = kind.workers_wanted;
  task.place = kind.place;
  task.id = static_cast<TaskId>(first_id + recorded.number);
  task.lane = recorded.passes ? lane : 0;
  task.policy_data = nullptr;
  task.pending_copies = 0;
  task.state = TaskState::waiting;
  task.flags = 0;
  task.cancelled = false;
  task.implementation = no_implementation;
  task.node = no_id<NodeId>;
  task.worker = no_id<WorkerId>;
  task.kind = EventKind::task_ready;
  task.access_count = recorded.access_count;
  task.accesses_begin = recorded.access_count <= inline_accesses ? task.inline_access.data()
                                                                 : new Access[recorded.access_count];
  const RecordedAccess* accesses = recorded.accesses();
  for (std::size_t i = 0; i < recorded.access_count; ++i) {
    const RecordedUse& use = uses[accesses[i].use()];
    Access& access = task.accesses_begin[i];
    access.task = &task;
    access.address = use.address;
    access.datum = use.datum;
    access.mode = accesses[i].mode();
    access.partials = access.partial = 0;
    access.packed = use.packed;
    access.fresh = false;
  }
  return task;
}

void RecordedRun::release(const Task& over, EventChain& ready, Recycler& recycler) {
  given_away(over);  // and so are those that follow
  RecordedRun& run = *over.recorded->kind->run;
  run.release(*over.recorded,
              [&](RecordedTask& next) { append_ready(run.describe(next, recycler), over, ready); });
}

}  // namespace fairlead::graph
