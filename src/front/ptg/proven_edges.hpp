// Finds stated edges that need no check at run time: the ranges and conditions of both ends imply, for all tasks of
// the producing class, that the receiver exists and its input names the producer.
#pragma once
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// Sets ClassEdge::key of proven edges. Call after the tasks have keys and find_repeats() has processed all classes.
void prove_edges(ClassTable& table);

}  // namespace fairlead::ptg
