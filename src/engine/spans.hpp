// Tasks that run on several workers of one memory node at once. Such a task is admitted like any other; when
// its data are there it gathers its workers: these get nothing new, and what is staged for them and has not
// started is asked back. When none of them has anything left, the task is launched on one, its leader, and
// the others stand aside until it is over.
//
// Why nobody waits for ever: one task gathers at a time, oldest first, and it holds all its memory by then,
// so it waits for tasks that run, which need nothing more, and for answers to recalls. Tasks whose data are
// there but whose workers stand aside are put off, holding their memory: until the end of a task that runs or
// is about to.
#pragma once
#include <fairlead/ids.hpp>

#include <cstddef>
#include <deque>
#include <vector>

#include "data/task.hpp"

namespace fairlead::engine {

/// A task and those who run it or stand aside for it: the leader first.
struct Span {
  Task* task = nullptr;
  std::vector<WorkerId> workers{};
};

struct Spans {
  std::deque<Task*> waiting;      ///< their data are there; oldest first
  Span gathering;                 ///< without a task: nobody gathers
  std::vector<Span> running;      ///< launched
  std::vector<WorkerId> leaders;  ///< by node: who was the last, if anybody was
  std::size_t open = 0;           ///< tasks that wait, gather or run
  std::size_t put_off = 0;  ///< ordinary tasks that wait until their worker has to do with none of these

  bool any() const noexcept { return (open | put_off) != 0; }
};

}  // namespace fairlead::engine
