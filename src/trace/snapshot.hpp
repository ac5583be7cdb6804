// What a tracer knows when it is asked: records in order, and the names of all they mention. Reports are
// made from this alone, so that real and simulated runs look the same.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

#include "trace/records.hpp"

namespace fairlead::trace {

/// A part of the run that the program has named.
struct Phase {
  std::string name;
  Time start{}, end{};
};

/// Of each kind of record, how many were lost because newer ones needed their place.
struct Dropped {
  std::uint64_t tasks = 0, copies = 0, memory = 0, waits = 0, transfers = 0;
  std::uint64_t all() const noexcept { return tasks + copies + memory + waits + transfers; }
};

struct Snapshot {
  std::string process = "fairlead";  ///< whose it is: "rank 1 on griffon-7"
  struct Node {
    std::string name;
    Bytes capacity = 0;  ///< 0: it is a home, which holds whatever is registered
  };
  struct Link {
    std::string name;
    NodeId first{}, second{};
  };
  struct Datum {
    std::string name;  ///< "A[3,1]"
    Bytes bytes = 0;
  };

  std::vector<std::string> workers;   ///< names, by WorkerId
  std::vector<Node> nodes;            ///< by NodeId
  std::vector<Link> links;            ///< by LinkId
  std::vector<Datum> data;            ///< by DatumId
  std::vector<std::string> codelets;  ///< names, by TaskRecord::codelet

  std::vector<TaskRecord> tasks;          ///< by worker, then by start
  std::vector<CopyRecord> copies;         ///< by start
  std::vector<MemoryRecord> memory;       ///< by time
  std::vector<WaitRecord> waits;          ///< by worker, then by start
  std::vector<TransferRecord> transfers;  ///< by end
  std::vector<Phase> phases;

  Dropped dropped;
  Time complete_from{};  ///< of what happened before this, something was dropped; 0: nothing was
  Bytes memory_limit{};  ///< of the tracer

  Time begin() const noexcept;  ///< of the first record
  Time end() const noexcept;    ///< of the last
};

/// "A[3,1], A[2,1] -> A[3,2]": what a task read, and after the arrow what it changed.
std::string data_text(const Snapshot& snapshot, const TaskRecord& task);
/// "disk to RAM", of the wire that was crossed; with its name before it, where that says more than its ends
/// do.
std::string direction_text(const Snapshot& snapshot, const CopyRecord& copy);
/// Whether the copy begins and ends where this wire does.
bool is_whole_way(const Snapshot& snapshot, const CopyRecord& copy);
/// What was dropped, and how to keep more, in one sentence; empty if nothing was.
std::string dropped_text(const Snapshot& snapshot);

}  // namespace fairlead::trace
