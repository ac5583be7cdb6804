// A made-up cluster: one core per node, with 1 GFlop/s for all kernels.
#pragma once
#include <cstddef>
#include <string>

#include "machine/description.hpp"
#include "simulate/cluster/cluster.hpp"

namespace fairlead::simulate {

inline machine::MachineDescription made_up_cluster(std::size_t nodes, const std::string& network,
                                                   std::size_t cores = 1, const std::string& memory = "1GB") {
  return machine::read_machine(
      "name = \"m\"\nsummary = \"made up\"\nsource = \"made up\"\n"
      "[processor.core]\nkind = \"cpu\"\n[[processor.core.rate]]\nkernel = \"*\"\ngflops = 1\n"
      "[host]\ncores = " +
          std::to_string(cores) + "\ncore = \"core\"\nmemory = \"" + memory +
          "\"\n[network]\nnodes = " + std::to_string(nodes) + "\n" + network,
      "m.toml");
}
inline const std::string gigabyte = "bandwidth = \"1GB/s\"\nlatency_microseconds = 10\n";

}  // namespace fairlead::simulate
