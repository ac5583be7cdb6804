// Small programs on a made-up machine, with times computed by hand.
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "machine/description.hpp"
#include "simulate/simulation.hpp"

namespace fairlead::simulate {

// All rates are 1 GFlop/s or 1 GB/s or multiples: a task of 10^6 flops takes 1 ms, a datum of 1 MB too.
inline std::string machine_text(const std::string& more, int card_gflops = 4) {
  return "name = \"m\"\nsummary = \"made up\"\nsource = \"made up\"\n"
         "[processor.core]\nkind = \"cpu\"\n[[processor.core.rate]]\nkernel = \"work\"\ngflops = 1\n"
         "[processor.card]\nkind = \"cuda\"\n[[processor.card.rate]]\nkernel = \"work\"\ngflops = " +
         std::to_string(card_gflops) +
         "\n"
         "[host]\ncores = 2\ncore = \"core\"\nmemory = \"1GB\"\n" +
         more;
}
inline const std::string card =
    "[[device]]\nprocessor = \"card\"\nmemory = \"100MB\"\nbandwidth = \"1GB/s\"\n"
    "latency_microseconds = 0\n";

inline constexpr Bytes megabyte = 1'000'000;
struct Small {
  Program program;
  KernelIndex work = program.kernel("work");
  Small() {
    program.title = "small";
    program.collection("A");
  }
  DatumIndex datum(Bytes bytes = megabyte) {
    return program.datum({.bytes = bytes,
                          .collection = 0,
                          .row = static_cast<std::int32_t>(program.data.size()),
                          .column = 0});
  }
  void task(float flops, std::initializer_list<ProgramUse> uses) {
    program.task({.kernel = work, .flops = flops, .side = 1}, uses);
  }
};

inline SimulationResult run(const Program& program, const std::string& machine,
                            MachineConfig use = {.cores = 0}, const std::string& policy = "eager",
                            SimulationOptions options = {}) {
  const SimulatedMachine simulated(machine::read_machine(machine_text(machine), "m.toml"), use, program,
                                   Precision::single);
  return simulate(program, simulated, policy, options);
}

}  // namespace fairlead::simulate
