// The settings of a simulation: which workload on which machine, and how. The command and the C interface read them.
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

namespace fairlead::simulate {

/// Fairlead's settings that have an effect on a simulation, and their meaning.
inline constexpr std::array settings_of_simulations = {
    AcceptedSetting{.key = "memory",
                    .help = "memory limit of each device, or of RAM without devices (default\tall)"},
    AcceptedSetting{.key = "tile", .help = "elements along a side of a tile (default\t1920)"},
    AcceptedSetting{
        .key = "window",
        .help = "number of unfinished tasks that submission may run ahead (default\tall of the program)"},
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
            .help = "rows of the matrix, or another size of the workload"},
    Setting{.key = "precision",
            .type = SettingType::choice,
            .default_value = "double",
            .choices = "single|double",
            .help = "type of the elements"},
    Setting{.key = "gpus",
            .type = SettingType::count,
            .unset_word = "all",
            .help = "number of the machine's devices to use"},
    Setting{.key = "cores",
            .type = SettingType::count,
            .unset_word = "auto",
            .help = "number of cores that run tasks",
            .unset_meaning = "none with devices, else all",
            .advanced = true},
    Setting{.key = "streams",
            .type = SettingType::count,
            .unset_word = "auto",
            .minimum = "1",
            .maximum = "64",
            .help = "number of tasks that a device runs at the same time",
            .unset_meaning = "as in the machine file",
            .advanced = true},
    Setting{.key = "host-memory",
            .type = SettingType::size,
            .unset_word = "all",
            .help = "limit of RAM",
            .advanced = true},
    Setting{.key = "device-bandwidth",
            .type = SettingType::bandwidth,
            .unset_word = "auto",
            .help = "bandwidth of the link from RAM to each device",
            .unset_meaning = "as in the machine file",
            .advanced = true},
    Setting{.key = "peers",
            .type = SettingType::flag,
            .default_value = "true",
            .help = "devices copy to each other over direct links, if any; otherwise through RAM",
            .advanced = true},
    Setting{.key = "data",
            .type = SettingType::choice,
            .default_value = "auto",
            .choices = "auto|ram|disk",
            .help = "where data are before and after the run; auto: in RAM with devices, else on disk if RAM "
                    "is limited",
            .advanced = true},
    Setting{.key = "advice",
            .type = SettingType::choice,
            .default_value = "none",
            .choices = "none|cyclic|cyclic-rows|cyclic-matrix-rows",
            .help = "distribution of tiles over devices that the program advises, for owner-user: cyclic in "
                    "two dimensions, by the rows that a rank has, or by those of the matrix",
            .advanced = true},
    Setting{.key = "priorities",
            .type = SettingType::choice,
            .default_value = "program",
            .choices = "program|time",
            .help = "task priorities: those of the program, or the least time from each task to the end",
            .advanced = true},
    Setting{.key = "memory-model",
            .type = SettingType::choice,
            .default_value = "explicit",
            .choices = "explicit|managed|managed-advised|managed-prefetched|host-mapped",
            .help = "how data get to devices: copied by the runtime, copied by CUDA's driver page by page, "
                    "or not at all (every use crosses the link)",
            .advanced = true},
    Setting{.key = "noise",
            .type = SettingType::count,
            .default_value = "0",
            .maximum = "90",
            .help = "random variation of the durations of tasks and copies in per cent, by the seed",
            .advanced = true},
    Setting{.key = "slow",
            .type = SettingType::text,
            .unset_word = "none",
            .value_name = "PROCESSOR:TIMES[:FROM-UNTIL]",
            .help = "slowdown factor of a device or core, from one second of the run to another, unknown to "
                    "the policies: gpu1:4:0.5-0.9,core0:2",
            .advanced = true},
    Setting{.key = "misjudged",
            .type = SettingType::text,
            .unset_word = "none",
            .value_name = "KERNEL:TIMES",
            .help = "factor by which policies overestimate the duration of a kernel: gemm:2,potrf:0.5",
            .advanced = true},
    Setting{.key = "first-run",
            .type = SettingType::flag,
            .default_value = "false",
            .help = "policies have no estimates of durations until some tasks have run, as in the first run "
                    "of a program",
            .advanced = true},
    Setting{
        .key = "csv",
        .type = SettingType::text,
        .unset_word = "none",
        .value_name = "FILE",
        .help = "write a table to this file: mean, least and most over the seeds, for each size and policy"},
    Setting{.key = "charge-decisions",
            .type = SettingType::flag,
            .default_value = "false",
            .help = "charge the time of the policy's decisions; runs are then not reproducible",
            .advanced = true}};

/// The policies of --scheduler: several, separated by commas, or "all". Throws ConfigError if one cannot be
/// created. "auto" stays in the list: see simulate/default_policy.hpp.
std::vector<std::string> policies_in(const std::string& written);

/// With its names where "auto" stands.
std::vector<std::string> named(std::vector<std::string> policies, const Program& program,
                               const SimulatedMachine& machine);

Precision precision_in(const Config& config);
WorkloadSize size_of(const Config& config);
/// Throws ConfigError for options that do not apply to the part of the machine in use.
MachineConfig use_of(const Config& config, const machine::MachineDescription& machine);
SimulationOptions simulation_options(const Config& config);

}  // namespace fairlead::simulate
