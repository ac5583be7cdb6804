// The contents of a tracer: records in order, and the names of everything they refer to. Reports use nothing else, so
// real and simulated runs look the same.
#pragma once
#include <fairlead/ids.hpp>

#include <string>
#include <vector>

#include "trace/records.hpp"

namespace fairlead::trace {

/// A period of the run that the program has named.
struct Phase {
  std::string name;
  Time start{}, end{};
};

/// The number of records of each kind that were overwritten by newer ones.
struct Dropped {
  std::uint64_t tasks = 0, copies = 0, memory = 0, waits = 0, transfers = 0;
  std::uint64_t all() const noexcept { return tasks + copies + memory + waits + transfers; }
};

struct Snapshot {
  std::string process = "fairlead";  ///< the traced process: "rank 1 on griffon-7"
  struct Node {
    std::string name;
    Bytes capacity = 0;  ///< 0: a home, which has no limit
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
  Time complete_from{};  ///< records from before this time may be missing; 0: none are
  Bytes memory_limit{};  ///< of the tracer, in bytes

  Time begin() const noexcept;  ///< the start of the first record
  Time end() const noexcept;    ///< the end of the last record
};

/// "A[3,1], A[2,1] -> A[3,2]": the data that a task read, and after the arrow those that it wrote.
std::string data_text(const Snapshot& snapshot, const TaskRecord& task);
/// "disk to RAM": the direction of the copy over its link, preceded by the link's name where that adds information.
std::string direction_text(const Snapshot& snapshot, const CopyRecord& copy);
/// Whether the copy starts and ends at the ends of this link.
bool is_whole_way(const Snapshot& snapshot, const CopyRecord& copy);
/// One sentence that states the dropped records and how to keep more; empty if none were dropped.
std::string dropped_text(const Snapshot& snapshot);

}  // namespace fairlead::trace
