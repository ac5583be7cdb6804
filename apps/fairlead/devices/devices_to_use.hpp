// Which accelerators a command computes on: those that are named, or those of this machine from which the
// problem gains; in one line for the report.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <string>

#include "fairlead/devices/gainful_devices.hpp"
#include "fairlead/problem/dense_problem.hpp"
#include "fairlead/ranks/command_ranks.hpp"

namespace fairlead::app {

/// The work of the problem, on the cores of this process.
WorkToDo work_of(const DenseProblem& problem, double core_gflops, const Config& config);

/// The report's line of devices. If none are named and `automatically` is set, sets the devices to use in the
/// settings. All ranks call it.
std::string settle_devices(Config& config, bool automatically, const WorkToDo& work, CommandRanks& ranks);

/// "rank 0: cuda:0, rank 1: cuda:1": of a list that several ranks of this machine share; empty: there is one
/// rank.
std::string dealt_out(const std::string& list, std::size_t ranks_on_machine);

}  // namespace fairlead::app
