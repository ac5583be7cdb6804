// Every workload can be simulated on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "machine/machine_files.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using machine::MachineDescription;

std::set<std::string> kernels_of(const Program& program) {
  std::set<std::string> kernels;
  for (const ProgramTask& task : program.tasks)
    kernels.insert(program.kernels[static_cast<std::size_t>(task.kernel)]);
  return kernels;
}

bool cores_run(const MachineDescription& machine, std::string_view kernel, Precision precision) {
  return machine.cores > 0 && machine.processor(machine.core).rate_of(kernel, name_of(precision)) != nullptr;
}
bool devices_run(const MachineDescription& machine, std::string_view kernel, Precision precision) {
  return !machine.devices.empty() &&
         std::ranges::all_of(machine.devices, [&](const machine::DeviceDescription& device) {
           return machine.processor(device.processor).rate_of(kernel, name_of(precision)) != nullptr;
         });
}

TEST(Machines, HaveRatesForTheKernelsOfAllWorkloads) {
  for (const Workload& workload : workloads())
    for (const Precision precision : {Precision::single, Precision::double_}) {
      const Program program = make_workload(workload.name, {100, 30, precision});
      for (const machine::MachineFile& file : machine::machine_files()) {
        const MachineDescription machine = machine::find_machine(file.name);
        for (const std::string& kernel : kernels_of(program)) {
          SCOPED_TRACE(std::string(workload.name) + ", " + kernel + ", " + std::string(name_of(precision)) +
                       " on " + machine.name);
          EXPECT_TRUE(cores_run(machine, kernel, precision));
          // Which kernels have no code for devices is said by the workload.
          EXPECT_TRUE(machine.devices.empty() || devices_run(machine, kernel, precision));
        }
      }
    }
}

}  // namespace
}  // namespace fairlead::simulate
