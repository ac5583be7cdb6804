// What `fairlead simulate` and `fairlead compare` are told alike: which program on which machine, and how.
#pragma once
#include <fairlead/config.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "machine/description.hpp"
#include "simulate/default_policy.hpp"
#include "simulate/machine.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace fairlead::app {

/// Which of Fairlead's settings say something to a simulation, and what.
inline constexpr std::array settings_of_simulations = {
    AcceptedSetting{.key = "memory",
                    .help = "of each device that is used, or of RAM where none is (default\tall)"},
    AcceptedSetting{.key = "tile", .help = "elements along a side of a tile (default\t1920)"},
    AcceptedSetting{.key = "window",
                    .help = "unfinished tasks that submission runs ahead (default\tall of the program)"},
    AcceptedSetting{.key = "pipeline-depth"},
    AcceptedSetting{.key = "fixed-order"},
    AcceptedSetting{.key = "seed"}};

inline constexpr std::array simulation_settings = {
    Setting{.key = "machine",
            .type = SettingType::text,
            .default_value = "summit",
            .value_name = "NAME",
            .help = "one of `fairlead machines`, or the path of a machine file"},
    Setting{.key = "n",
            .type = SettingType::count,
            .default_value = "38400",
            .minimum = "1",
            .maximum = "1000000000",
            .help = "rows of the matrix, or what the workload says"},
    Setting{.key = "precision",
            .type = SettingType::choice,
            .default_value = "double",
            .choices = "single|double",
            .help = "of the elements"},
    Setting{.key = "gpus",
            .type = SettingType::count,
            .unset_word = "all",
            .help = "how many of the machine's devices are used"},
    Setting{.key = "cores",
            .type = SettingType::count,
            .unset_word = "auto",
            .help = "how many cores run tasks",
            .unset_meaning = "none beside devices, else all"},
    Setting{.key = "streams",
            .type = SettingType::count,
            .unset_word = "auto",
            .minimum = "1",
            .maximum = "64",
            .help = "tasks that a device runs at the same time",
            .unset_meaning = "as the machine's file says"},
    Setting{.key = "host-memory",
            .type = SettingType::size,
            .unset_word = "all",
            .help = "of RAM that may be used"},
    Setting{.key = "device-bandwidth",
            .type = SettingType::bandwidth,
            .unset_word = "auto",
            .help = "of the wire from RAM to each device",
            .unset_meaning = "as the machine's file says"},
    Setting{
        .key = "peers",
        .type = SettingType::flag,
        .default_value = "true",
        .help = "devices copy to each other over wires of their own where there are any; else through RAM"},
    Setting{.key = "data",
            .type = SettingType::choice,
            .default_value = "auto",
            .choices = "auto|ram|disk",
            .help = "where data are before and after; auto: in RAM beside devices, else on disk if RAM is "
                    "limited"},
    Setting{
        .key = "advice",
        .type = SettingType::choice,
        .default_value = "none",
        .choices = "none|cyclic|cyclic-rows|cyclic-matrix-rows",
        .help =
            "on which device the program would have its tiles, for owner-user: dealt out in two dimensions, "
            "by the rows that a rank has, or by those of the matrix"},
    Setting{.key = "priorities",
            .type = SettingType::choice,
            .default_value = "program",
            .choices = "program|time",
            .help =
                "what policies hear of how urgent tasks are: what the program says, or the least time from "
                "each to the end"},
    Setting{.key = "memory-model",
            .type = SettingType::choice,
            .default_value = "explicit",
            .choices = "explicit|managed|managed-advised|managed-prefetched|host-mapped",
            .help = "who moves data to devices: the runtime, CUDA's driver page by page, or nobody (every "
                    "use crosses the wire)"},
    Setting{.key = "noise",
            .type = SettingType::count,
            .default_value = "0",
            .maximum = "90",
            .help = "per cent by which tasks and copies take longer or shorter, by the seed"},
    Setting{.key = "slow",
            .type = SettingType::text,
            .unset_word = "none",
            .value_name = "PROCESSOR:TIMES[:FROM-UNTIL]",
            .help =
                "a device or core takes so many times as long, from one second of the run to another, and "
                "no policy knows: gpu1:4:0.5-0.9,core0:2"},
    Setting{.key = "misjudged",
            .type = SettingType::text,
            .unset_word = "none",
            .value_name = "KERNEL:TIMES",
            .help = "policies expect a kernel to take so many times as long as it does: gemm:2,potrf:0.5"},
    Setting{.key = "first-run",
            .type = SettingType::flag,
            .default_value = "false",
            .help =
                "policies know of no task how long it takes, until some have run, as where a program runs "
                "for the first time"},
    Setting{.key = "csv",
            .type = SettingType::text,
            .unset_word = "none",
            .value_name = "FILE",
            .help = "write a table to this file: for each size and policy the mean over the seeds, the least "
                    "and the most"},
    Setting{.key = "charge-decisions",
            .type = SettingType::flag,
            .default_value = "false",
            .help = "the time that the policy takes to decide counts; no two runs are then quite the same"}};

/// What --scheduler names: several, separated by commas, or "all". Throws ConfigError if one cannot be made.
/// "auto" stays in the list: see simulate/default_policy.hpp.
std::vector<std::string> policies_in(const std::string& written);

/// With its names where "auto" stands.
std::vector<std::string> named(std::vector<std::string> policies, const simulate::Program& program,
                               const simulate::SimulatedMachine& machine);

/// Somebody has given it a value: it is not the default.
bool is_set(const Config& config, std::string_view key);

simulate::Precision precision_in(const Config& config);
simulate::WorkloadSize size_of(const Config& config);
/// Throws ConfigError for what says nothing of the part of the machine that is used.
simulate::MachineConfig use_of(const Config& config, const machine::MachineDescription& machine);
simulate::SimulationOptions simulation_options(const Config& config);

}  // namespace fairlead::app
