// Writes a run in the format of the Perfetto viewer (ui.perfetto.dev): a track for each worker and for each direction
// of each link, and counters of each memory node. protozero writes the varints; the field numbers are those of
// perfetto/trace/trace_packet.proto and track_event/*.proto.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "trace/snapshot.hpp"

namespace fairlead::report {

/// Passes the file to `out` in chunks. `ranks`: by rank, with synchronized clocks; each becomes a process. Arrows
/// connect the values that go from one rank to another.
void write_perfetto(std::span<const trace::Snapshot> ranks, const std::function<void(std::string_view)>& out);

/// Writes the trace of one rank to a file. Throws SystemError.
void write_trace(const std::string& path, const trace::Snapshot& recorded);

}  // namespace fairlead::report
