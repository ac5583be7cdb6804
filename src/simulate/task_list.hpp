// A program for the simulator from arrays of data and tasks, as programs in C and other languages have them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/program.hpp"

namespace fairlead::simulate {

/// Arrays in program order. Optional ones are empty; all others have an element for each datum or task.
struct TaskList {
  std::string title;
  std::span<const std::uint64_t> data_bytes;
  std::vector<std::string> data_names;  ///< optional: "datum 3"

  std::vector<std::string> kernels;
  std::span<const std::uint32_t> task_kernels;    ///< indices of `kernels`
  std::span<const std::uint64_t> first_accesses;  ///< of each task, and the number of all
  std::span<const std::uint32_t> accessed_data;
  std::span<const AccessMode> access_modes;
  std::span<const std::uint64_t> first_predecessors;  ///< optional: of each task, and the number of all
  std::span<const std::uint32_t> predecessors;        ///< indices of earlier tasks
  std::span<const std::int32_t> priorities;           ///< optional: 0
  std::span<const double> flops;                      ///< optional: 0
  /// Optional: for each task a duration on each of these processors, or kinds of worker; NaN: the task cannot run there. A
  /// task with none takes the time of its `flops` at the machine's rate of its kernel.
  std::vector<std::string> processors;
  std::span<const double> seconds;
};

/// A datum whose first access writes it without reading has no value before. `precision`: of the elements, from which the
/// side of a tile follows, for rates. Throws UsageError naming the task or the datum.
Program program_of(const TaskList& list, Precision precision);

}  // namespace fairlead::simulate
