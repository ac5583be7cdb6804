// Writes the report and the trace of a run. Recording is enabled if the setting `report` or `trace` names a file
// (--report run.html); the program decides when to write it.
#pragma once
#include <fairlead/runtime.hpp>

#include <string>

namespace fairlead {

/// Writes the files that the settings `report` (an HTML page) and `trace` (for the Perfetto viewer) name; does nothing
/// if they name none. No flow may have unfinished tasks. `title` is the heading of the page. Each rank writes its own
/// recording: rank 0 to these files, rank 2 to run.rank2.html for run.html. Throws SystemError if a file cannot be
/// written.
void write_recorded(Runtime& runtime, const Config& config, const std::string& title = "Run");

}  // namespace fairlead
