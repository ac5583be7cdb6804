// A run in the format of the Perfetto viewer (ui.perfetto.dev): a track for each worker, for each direction
// of each link, and counters of each memory node. protozero writes the varints; the field numbers are those
// of perfetto/trace/trace_packet.proto and track_event/*.proto.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "trace/snapshot.hpp"

namespace fairlead::report {

/// Hands the file out piece by piece. Several: by rank, with one clock, a process each; values that go from one to another are
/// joined by arrows.
void write_perfetto(std::span<const trace::Snapshot> ranks, const std::function<void(std::string_view)>& out);

/// The same as a file. Throws SystemError.
void write_trace(const std::string& path, const trace::Snapshot& recorded);

}  // namespace fairlead::report
