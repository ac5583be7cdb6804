// A graph of a few tasks over data with one-letter names, driven by one thread step by step.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "graph/dependency_graph.hpp"

namespace fairlead::tests {

class SmallGraph {
 public:
  using Uses = std::initializer_list<std::pair<char, AccessMode>>;

  /// Inserts a task; it is in `ready` if it may run at once.
  Task& submit(Uses uses) {
    std::vector<graph::Insertion> insertions;
    for (const auto& [name, mode] : uses) {
      bool merged = false;
      for (graph::Insertion& earlier : insertions)
        if (earlier.tail == &tails[name]) {
          earlier.mode = graph::merged(earlier.mode, mode);
          merged = true;
        }
      if (!merged) insertions.push_back({&tails[name], static_cast<DatumId>(name - 'A'), mode});
    }
    Task* task = graph.make_task(insertions.size());
    if (graph.insert(*task, insertions)) ready.push_back(task);
    return *task;
  }

  /// Completes the task; its successors are added to `ready`.
  void complete(Task& task) {
    std::erase(ready, &task);
    EventChain chain;
    graph::DependencyGraph::complete(task, chain, recycler);
    for (Event* event = chain.take_in_order(); event != nullptr;) {
      Event* following = event->next;
      ready.push_back(static_cast<Task*>(event));
      event = following;
    }
    recycler.recycle(task);
  }

  graph::Epoch* last_epoch(char name) { return tails[name].last; }
  bool is_ready(const Task& task) const {
    return std::find(ready.begin(), ready.end(), &task) != ready.end();
  }

  graph::DependencyGraph graph;
  Recycler recycler{graph.tasks(), graph.epochs()};
  std::map<char, graph::DatumState> tails;
  std::vector<Task*> ready;
};

}  // namespace fairlead::tests
