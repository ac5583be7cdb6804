// Reads and checks the words of an event log.
#include "engine/log_reader.hpp"

#include <fairlead/error.hpp>

namespace fairlead::engine {

std::uint64_t LogReader::word(const char* what, std::uint64_t bound) {
  if (at_end()) refuse(std::string("the log ends before ") + what);
  const std::uint64_t value = words_[position_];
  if (bound != 0 && value >= bound) refuse(std::to_string(value) + " is out of range for " + what);
  ++position_;
  return value;
}

NodeId LogReader::device(const Topology& topology) {
  const auto node = static_cast<NodeId>(word("memory node", topology.nodes.size()));
  if (!topology.has_kind(node, MemoryKind::device))
    refuse("node " + std::to_string(index(node)) + " is not a device");
  return node;
}

void LogReader::refuse(const std::string& why) const {
  throw InputError("the event log cannot be replayed; at word " + std::to_string(position_) + ": " + why);
}

}  // namespace fairlead::engine
