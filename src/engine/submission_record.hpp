// The order of unfinished accesses per datum, kept for policies that plan over the graph: the graph's own
// epochs are taken apart by other threads and cannot be walked.
#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "data/task.hpp"

namespace fairlead::engine {

class SubmissionRecord {
 public:
  void submitted(Task& task) {
    for (const Access& access : task.accesses()) {
      if (accesses_.size() <= index(access.datum)) accesses_.resize(index(access.datum) + 1);
      accesses_[index(access.datum)].push_back({&task, access.mode});
    }
  }
  void over(const Task& task) {
    for (const Access& access : task.accesses()) {
      auto& list = accesses_[index(access.datum)];
      list.erase(
          std::ranges::find(list, &task, &Entry::task));  // near the front: earlier ones are mostly gone
    }
  }
  /// Tasks that wait for `task` directly, each once, in order of submission.
  void successors(const Task& task, std::vector<Task*>& out) const {
    out.clear();
    for (const Access& access : task.accesses()) {
      const auto& list = accesses_[index(access.datum)];
      auto it = std::ranges::find(list, &task, &Entry::task);
      const AccessMode mode = it->mode;
      for (++it; it != list.end() && it->mode == mode && may_share(mode); ++it) {
      }  // its own group
      const auto first = it;
      for (; it != list.end() && (it == first || (it->mode == first->mode && may_share(it->mode))); ++it)
        out.push_back(it->task);
    }
    std::ranges::sort(out, {}, &Task::id);
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
  std::uint32_t writers(DatumId id) const {
    if (accesses_.size() <= index(id)) return 0;
    return static_cast<std::uint32_t>(
        std::ranges::count_if(accesses_[index(id)], [](const Entry& entry) { return writes(entry.mode); }));
  }

 private:
  struct Entry {
    Task* task;
    AccessMode mode;
  };
  std::vector<std::deque<Entry>> accesses_;  // by DatumId, in program order
};

}  // namespace fairlead::engine
