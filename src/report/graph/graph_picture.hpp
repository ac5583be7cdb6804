// Draws an unrolled task graph: a small one task by task in layers, a large one class by class.
#pragma once
#include <cstddef>
#include <string>

#include "front/unrolled/task_graph.hpp"

namespace fairlead::report {

/// An SVG without scripts; the same graph yields the same text. With more than `most_tasks` tasks, a box represents a
/// class, with its number of tasks, and an arrow all edges between two classes.
std::string graph_picture(const unrolled::TaskGraph& graph, std::size_t most_tasks = 400);

}  // namespace fairlead::report
