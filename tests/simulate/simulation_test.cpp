// Small runs on made-up machines, whose times and bytes are worked out by hand, and runs whose every command
// is known by a number that all builds must give.
#include "simulate/simulation.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>

#include "machine/machine_files.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/small.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using testing::HasSubstr;

// 1 ms in, 2 ms for 8 x 10^6 flops, 1 ms out.
TEST(Simulation, ATaskOnADeviceLoadsItsDatumAndWritesTheResultBack) {
  Small it;
  it.task(8e6F, {{it.datum(), AccessMode::read_write}});
  const SimulationResult result = run(it.program, card);
  EXPECT_DOUBLE_EQ(result.seconds, 0.004);
  EXPECT_EQ(result.bytes_to_devices, megabyte);
  EXPECT_EQ(result.bytes_from_devices, megabyte);
}

// The second datum comes while the first task runs: 1 + 2 + 2, and nothing is written.
TEST(Simulation, CopiesAndTasksOverlap) {
  Small it;
  it.task(8e6F, {{it.datum(), AccessMode::read}});
  it.task(8e6F, {{it.datum(), AccessMode::read}});
  // Two copies share the wire: both are there after 2 ms.
  EXPECT_DOUBLE_EQ(run(it.program, card).seconds, 0.006);
}

// Two copies share the wire to the device for 2 ms, one comes back in 1; in between the wire is idle.
TEST(Simulation, ALinkIsBusyDuringACopy) {
  Small it;
  const DatumIndex first = it.datum(), second = it.datum();
  it.task(8e6F, {{first, AccessMode::read}, {second, AccessMode::read_write}});
  const SimulationResult result = run(it.program, card);
  EXPECT_DOUBLE_EQ(result.seconds, 0.005);
  double busy = 0;
  for (const report::LinkReport& link : result.links) busy += link.busy_seconds.value_or(0);
  EXPECT_DOUBLE_EQ(busy, 0.003);
}

// Three tasks add to one datum; the first of the program has to wait for another one, and not the others for
// it.
TEST(Simulation, CommutativeTasksRunInTheirOrderIfThatIsFixed) {
  Small it;
  const DatumIndex sum = it.datum(), late = it.datum();
  it.task(8e6F, {{late, AccessMode::write}});
  it.task(4e6F, {{late, AccessMode::read}, {sum, AccessMode::commutative}});
  for (int i = 0; i < 2; ++i) it.task(4e6F, {{sum, AccessMode::commutative}});
  const auto seconds = [&](bool fixed) {
    return run(it.program, "", {}, "eager", {.fixed_order = fixed}).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(false), 0.012);  // two cores: 8 in parallel with 4 + 4, then 4
  EXPECT_DOUBLE_EQ(seconds(true), 0.020);
}

// Two devices on a bus of 1 GB/s: each datum takes 2 ms; on wires of their own 1 ms.
TEST(Simulation, DevicesOnABusShareIt) {
  Small it;
  for (int i = 0; i < 2; ++i) it.task(4e6F, {{it.datum(), AccessMode::read}});
  // dmda, since eager gives a worker several tasks at once, the first one both.
  EXPECT_DOUBLE_EQ(run(it.program, card + "count = 2\n", {.cores = 0}, "dmda").seconds, 0.002);
  EXPECT_DOUBLE_EQ(
      run(it.program,
          "[[bus]]\nname = \"pcie\"\nbandwidth = \"1GB/s\"\n" + card + "count = 2\nbuses = [\"pcie\"]\n",
          {.cores = 0}, "dmda")
          .seconds,
      0.003);
}

// A core takes 4 ms where the device takes 1 and a copy of 1: DMDA gives two tasks to the device (1 + 1, 1 +
// 1 + 1), and none to cores.
TEST(Simulation, CoresUseDataInPlace) {
  Small it;
  it.task(4e6F, {{it.datum(), AccessMode::read}});
  const SimulationResult result = run(it.program, card, {.devices = 0, .cores = 1});
  EXPECT_DOUBLE_EQ(result.seconds, 0.004);
  EXPECT_EQ(result.bytes_to_devices, 0u);
}

// Two streams of one device: each alone would take 2 ms; together they get done 1.5 times what one does.
TEST(Simulation, StreamsShareADevice) {
  Small it;
  const DatumIndex datum = it.datum();
  for (int i = 0; i < 2; ++i) it.task(8e6F, {{datum, AccessMode::read}});
  const SimulationResult result = run(it.program, card + "streams = 2\ntogether = 1.5\n");
  EXPECT_NEAR(result.seconds, 0.001 + 0.004 / 1.5, 1e-8);
}

// Alone a stream takes 2 ms for a task. Policies get the durations that a run would measure while all streams compute.
TEST(Simulation, PoliciesExpectTheDurationOfATaskAlongsideOthers) {
  Small it;
  it.task(8e6F, {{it.datum(), AccessMode::read}});
  const auto expected = [&](const std::string& device) {
    const SimulatedMachine machine(machine::read_machine(machine_text(card + device), "m.toml"), {.cores = 1},
                                   it.program, Precision::single);
    return std::pair(machine.expected(it.program.tasks[0], WorkerId{0}),
                     machine.expected(it.program.tasks[0], WorkerId{1}));
  };
  using std::chrono::milliseconds;
  EXPECT_EQ(expected("streams = 4\ntogether = 2\n"),
            std::pair(Duration(milliseconds(8)), Duration(milliseconds(4))));
  EXPECT_EQ(expected("streams = 2\ntogether = 2\n").second, milliseconds(2));
  EXPECT_EQ(expected("").second, milliseconds(2));
  // Two cores for one that computes and two devices that are cores, of one each.
  EXPECT_EQ(expected("count = 2\non_cores = 1\n"),
            std::pair(Duration(milliseconds(12)), Duration(milliseconds(3))));
}

// Each is brought its datum in 1 ms and alone computes for 2. Three on two cores have two thirds of one each, or of both.
TEST(Simulation, DevicesThatAreCoresShareThem) {
  Small it;
  for (int i = 0; i < 3; ++i) it.task(8e6F, {{it.datum(), AccessMode::read}});
  const auto seconds = [&](const std::string& devices) {
    return run(it.program, card + devices, {.cores = 0}, "dmda").seconds;
  };
  EXPECT_NEAR(seconds("count = 3\n"), 0.003, 1e-8);
  EXPECT_NEAR(seconds("count = 3\non_cores = 1\n"), 0.001 + 0.003, 1e-8);
  EXPECT_NEAR(seconds("count = 3\non_cores = 2\n"), 0.001 + 0.006, 1e-8);
}

// Device 1 reads what device 0 wrote: through RAM, 2 wires of 1 GB/s at once, or over a wire of 10 GB/s.
TEST(Simulation, PeersHaveAWireOfTheirOwn) {
  Small it;
  const DatumIndex a = it.datum(), b = it.datum();
  it.task(4e6F, {{a, AccessMode::read_write}});
  it.task(4e6F, {{a, AccessMode::read}, {b, AccessMode::read_write}});
  const std::string two = card + "count = 2\n";
  const SimulationResult by_peer =
      run(it.program, two + "[[peers]]\nall = true\nbandwidth = \"10GB/s\"\nlatency_microseconds = 0\n");
  const SimulationResult through_ram = run(it.program, two);
  EXPECT_LE(by_peer.seconds, through_ram.seconds);
  EXPECT_EQ(through_ram.bytes_between_devices, 0u);
}

TEST(Simulation, WhatIsLessThanAGigabyteIsShown) {
  EXPECT_EQ(gigabytes(Bytes{48'606'267'800}), "48.6 GB");
  EXPECT_EQ(gigabytes(Bytes{14'745'600}), "0.0147 GB");
  EXPECT_EQ(gigabytes(Bytes{0}), "0.0 GB");
}

TEST(Simulation, ATaskThatDoesNotFitIsAnOutcomeWithoutARate) {
  Small it;
  it.task(1e6F, {{it.datum(200 * megabyte), AccessMode::read}});
  const SimulatedMachine machine(machine::read_machine(machine_text(card), "m.toml"), {.cores = 0},
                                 it.program, Precision::single);
  const Limits limits = limits_of(it.program, machine, nullptr, {});
  const RunOutcome outcome = outcome_of(it.program, machine, "eager", {});
  EXPECT_THAT(outcome.problem, HasSubstr("A[0,0]"));
  const std::string text = json(outcome, limits, it.program, machine, "one task", {}).text();
  EXPECT_THAT(text, HasSubstr("\"finished\": false"));
  EXPECT_THAT(text, HasSubstr("\"workload\": \"one task\""));
  EXPECT_THAT(text, testing::Not(HasSubstr("gflops\":")));
  EXPECT_THAT(table_line(outcome, limits, true, 24), HasSubstr("did not finish"));
}

// Two cores of 1 and a card of 4: 12 x 10^6 flops take 2 ms at best. A chain of two tasks of 4 x 10^6: 2 ms.
TEST(Simulation, BoundsAreThoseComputedByHand) {
  Small it;
  const DatumIndex a = it.datum();
  for (int i = 0; i < 2; ++i) it.task(4e6F, {{a, AccessMode::read_write}});
  it.task(4e6F, {{it.datum(), AccessMode::read}});
  const SimulatedMachine machine(machine::read_machine(machine_text(card), "m.toml"), {}, it.program,
                                 Precision::single);
  const TimeBounds bounds = machine.bounds(it.program);
  EXPECT_NEAR(bounds.compute, 0.002, 1e-7);
  EXPECT_DOUBLE_EQ(bounds.critical_path, 0.002);
  EXPECT_NEAR(machine.bus_bytes(0.002), 2e6, 1);
}

// Cores use data in RAM in place: there is nothing that has to be loaded.
TEST(Simulation, NoBoundOfLoadsHoldsWhereCoresUseDataInPlace) {
  const WorkloadSize size{.n = 960, .tile = 96, .precision = Precision::single};
  const Program program = make_workload("cholesky", size);
  const auto has_bound = [&](const char* name, const MachineConfig& use) {
    const SimulatedMachine machine(machine::load_machine(name), use, program, size.precision);
    return limits_of(program, machine, &find_workload("cholesky"), size).io.has_value();
  };
  EXPECT_TRUE(has_bound("k40", {.cores = 0}));
  EXPECT_FALSE(has_bound("k40", {.cores = 20}));
  EXPECT_FALSE(has_bound("griffon", {}));
  EXPECT_TRUE(has_bound("epyc-7642", {.data = DataHome::disk}));
}

TEST(Simulation, RefusesWhatTheMachineLacks) {
  Small it;
  it.task(1e6F, {{it.datum(), AccessMode::read}});
  const auto refusal = [&](MachineConfig use, const Program& program) -> std::string {
    try {
      const SimulatedMachine machine(machine::read_machine(machine_text(card), "m.toml"), use, program,
                                     Precision::single);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({.devices = 2}, it.program), "the machine m has 1 devices, not 2");
  EXPECT_THAT(refusal({.devices = 0, .cores = 0}, it.program), HasSubstr("nothing can run"));
  EXPECT_THAT(refusal({.data = DataHome::disk}, it.program), HasSubstr("describes no [disk]"));
  Program other = it.program;
  other.kernels[0] = "other";
  EXPECT_THAT(refusal({}, other), HasSubstr("other"));
}

// The same commands in every build of this source, optimized or not, with sanitizers or without.
TEST(Simulation, GivesTheSameCommandsInEveryBuild) {
  const Program program = make_workload("cholesky", {15'360, 960, Precision::single});
  const SimulatedMachine machine(machine::load_machine("v100-pcie"),
                                 {.devices = 3, .cores = 2, .device_memory = Bytes{100} << 20, .streams = 2},
                                 program, Precision::single);
  std::string digests;
  for (const char* policy : {"eager", "lws", "lfq", "dmdas", "heft-tmdp-pr", "laheteroprio", "ap", "darts",
                             "blocks", "owner-load"}) {
    const SimulationResult result = simulate(program, machine, policy, {.seed = 7, .noise_percent = 5});
    digests += std::string(policy) + " " + std::to_string(result.digest) + "\n";
  }
  EXPECT_EQ(digests,
            "eager 10235514580727704220\n"
            "lws 3015951561718443259\n"
            "lfq 1905280834370451247\n"
            "dmdas 6340553617177629619\n"
            "heft-tmdp-pr 10283130645765682846\n"
            "laheteroprio 1177967241950567382\n"
            "ap 6108756037009262510\n"
            "darts 18338559166515405310\n"
            "blocks 5068264872453704939\n"
            "owner-load 12758084152116258483\n");
}

}  // namespace
}  // namespace fairlead::simulate
