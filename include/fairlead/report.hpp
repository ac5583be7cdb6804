// What happened in a run, for people to look at. Recording is on if the settings `trace` or `report` name a
// file (--report run.html); the program says when to write it.
#pragma once
#include <fairlead/runtime.hpp>

#include <string>

namespace fairlead {

/// Writes the files that the settings `report` (a page for a browser) and `trace` (for the Perfetto viewer)
/// ask for; nothing if they ask for none. To be called when no flow has unfinished tasks. `title` heads the
/// page. Of several ranks each writes what it has recorded: rank 0 to these files, rank 2 to run.rank2.html for
/// run.html. Throws SystemError if a file cannot be written.
void write_recorded(Runtime& runtime, const Config& config, const std::string& title = "Run");

}  // namespace fairlead
