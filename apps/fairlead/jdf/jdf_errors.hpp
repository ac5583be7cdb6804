// Errors of a JDF file that occur while its tasks run, in terms of the file.
#pragma once
#include <string>

namespace fairlead::app {

/// Rethrows the current exception: an error of the graph gets the file's name, if it lacks that.
[[noreturn]] void throw_of_graph(const std::string& file);

}  // namespace fairlead::app
