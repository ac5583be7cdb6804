// Errors of a JDF file that show while its tasks run, in words of the file.
#pragma once
#include <string>

namespace fairlead::app {

/// Throws the exception that is being handled again: an error of the graph with the file's name, if it lacks that.
[[noreturn]] void throw_of_graph(const std::string& file);

}  // namespace fairlead::app
