// A picture of a graph of tasks that is written out: a small one task by task in layers, a large one class by class.
#pragma once
#include <cstddef>
#include <string>

#include "front/unrolled/graph.hpp"

namespace fairlead::report {

/// An SVG without a script, the same for the same graph. With more than `most_tasks` a box stands for a class, with how
/// many tasks it has, and an arrow for all edges of a pair of classes.
std::string graph_picture(const unrolled::Graph& graph, std::size_t most_tasks = 400);

}  // namespace fairlead::report
