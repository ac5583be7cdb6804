// Decides for which values readers are counted at run time: those that a task changes while other tasks may still
// read them, and those in a datum that must be returned after the last reader.
#pragma once
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// Sets ClassTable::has_memory_conflicts, TableClass::may_await_memory, TableFlow::counted and TableFlow::may_count. All inputs
/// and edges must be complete.
void count_readers(ClassTable& table);

}  // namespace fairlead::ptg
