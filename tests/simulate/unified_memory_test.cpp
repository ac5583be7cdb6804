// What page faults, prefetches and mapped memory cost on made-up devices, worked out by hand: a megabyte
// takes 1 ms over a wire, a page has 100 kB and 10 us for itself, a batch has up to 4 pages and 50 us, a
// block 500 kB.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <string>

#include "machine/machine_files.hpp"
#include "simulate/run_outcome.hpp"
#include "simulate/simulation.hpp"
#include "simulate/small.hpp"
#include "simulate/workload.hpp"

namespace fairlead::simulate {
namespace {

using backend::MemoryModel;
using testing::HasSubstr;

constexpr AccessMode read = AccessMode::read, change = AccessMode::read_write, write = AccessMode::write;

/// 10 pages, 3 batches.
constexpr double faults_of_a_megabyte = 10 * 10e-6 + 3 * 50e-6;
constexpr double a_megabyte_over_the_wire = 0.001;
constexpr double a_megabyte_to_a_peer = 0.0001;

std::string cards(int count, const std::string& more = "") {
  return "[[device]]\nprocessor = \"card\"\nmemory = \"3100kB\"\nbandwidth = \"1GB/s\"\n"
         "latency_microseconds = 20\ncount = " +
         std::to_string(count) + "\n" + more +
         (count > 1 ? "[[peers]]\nall = true\nbandwidth = \"10GB/s\"\nlatency_microseconds = 20\n" : "");
}
const std::string faults =
    "[unified_memory]\npage = \"100kB\"\nblock = \"500kB\"\nbatch_pages = 4\nbatch_microseconds = 50\n"
    "page_microseconds = 10\n";

/// A datum is advised to the device of its row, if there are so many.
struct Paged : Small {
  DatumIndex datum(std::int32_t device, Bytes bytes = megabyte, bool has_value = true) {
    return program.datum({.bytes = bytes,
                          .collection = 0,
                          .row = device,
                          .column = static_cast<std::int32_t>(program.data.size()),
                          .has_value = has_value});
  }
  /// 1 ms of work.
  void task(std::initializer_list<ProgramUse> uses) { Small::task(1e6F, uses); }
  SimulationResult run(MemoryModel model, const std::string& devices = cards(1) + faults,
                       std::optional<std::size_t> cores = 0) const {
    const SimulatedMachine simulated(machine::read_machine(machine_text(devices, 1), "m.toml"),
                                     {.cores = cores, .memory_model = model}, program, Precision::single);
    return simulate(program, simulated, "owner-user", {.advice = Advice::cyclic_rows});
  }
};

}  // namespace

TEST(UnifiedMemory, AKernelStallsUntilItsPagesArrive) {
  Paged it;
  it.task({{it.datum(0), read}});
  const SimulationResult result = it.run(MemoryModel::managed);
  EXPECT_DOUBLE_EQ(result.seconds, faults_of_a_megabyte + a_megabyte_over_the_wire + 0.001);
  EXPECT_DOUBLE_EQ(result.stalled_seconds, faults_of_a_megabyte + a_megabyte_over_the_wire);
  EXPECT_EQ(result.fault_batches, 3u);
  EXPECT_EQ(result.bytes_to_devices, megabyte);
  EXPECT_EQ(result.bytes_from_devices, 0u);
}

// The second task finds the pages where the first one left them. What was written comes home at the end, as
// any copy: 20 us and 1 ms.
TEST(UnifiedMemory, PagesStayAndWrittenPagesAreWrittenBack) {
  Paged it;
  const DatumIndex a = it.datum(0);
  for (int i = 0; i < 2; ++i) it.task({{a, change}});
  const SimulationResult result = it.run(MemoryModel::managed);
  EXPECT_DOUBLE_EQ(result.seconds, faults_of_a_megabyte + a_megabyte_over_the_wire + 2 * 0.001 + 20e-6 +
                                       a_megabyte_over_the_wire);
  EXPECT_EQ(result.bytes_from_devices, megabyte);
}

// The driver sees only a fault of a kernel that only writes: existing pages move. Pages without a value are
// allocated on the device.
TEST(UnifiedMemory, OverwrittenPagesMoveToo) {
  Paged there, nowhere;
  there.task({{there.datum(0), write}});
  nowhere.task({{nowhere.datum(0, megabyte, false), write}});
  EXPECT_EQ(there.run(MemoryModel::managed).bytes_to_devices, megabyte);
  const SimulationResult made = nowhere.run(MemoryModel::managed);
  EXPECT_EQ(made.bytes_to_devices, 0u);
  EXPECT_DOUBLE_EQ(made.stalled_seconds, faults_of_a_megabyte);
}

// Where their larger datum lives, on two devices by turns; each takes `a`, half a megabyte, from the other.
// The first time it is in the host's memory.
TEST(UnifiedMemory, DevicesThatWriteInTurnsTakeThePagesFromEachOther) {
  Paged it;
  const DatumIndex own[] = {it.datum(0), it.datum(1)}, a = it.datum(-1, megabyte / 2);
  for (const DatumIndex one : own) it.task({{one, change}});
  for (int turn = 0; turn < 4; ++turn) it.task({{own[turn % 2], change}, {a, change}});
  constexpr double first_two = faults_of_a_megabyte + a_megabyte_over_the_wire + 0.001;
  constexpr double faults_of_a = 5 * 10e-6 + 2 * 50e-6;
  constexpr double from_host = faults_of_a + a_megabyte_over_the_wire / 2 + 0.001;
  constexpr double from_peer = faults_of_a + a_megabyte_to_a_peer / 2 + 0.001;
  constexpr double home = 2 * 20e-6 + 1.5 * a_megabyte_over_the_wire;  // device 1's two
  for (const MemoryModel model : {MemoryModel::managed, MemoryModel::managed_advised}) {
    const SimulationResult result = it.run(model, cards(2) + faults);
    EXPECT_DOUBLE_EQ(result.seconds, first_two + from_host + 3 * from_peer + home) << name_of(model);
    EXPECT_EQ(result.bytes_to_devices, 2 * megabyte + megabyte / 2);
    EXPECT_EQ(result.bytes_between_devices, 3 * megabyte / 2);
  }
}

// One task after the other, since each reads what the one before has written: 4 times the faults of `a`,
// three of them from the peer, and no copy of the old value is used.
TEST(UnifiedMemory, AWriteInvalidatesAllOtherReplicas) {
  Paged it;
  const DatumIndex a = it.datum(-1), zero = it.datum(0), one = it.datum(1);
  it.task({{zero, change}, {a, read}});    // to device 0
  it.task({{one, change}, {a, read}});     // a copy on device 1
  it.task({{zero, change}, {a, change}});  // there already; the copy ends
  it.task({{one, change}, {a, read}});     // again
  const SimulationResult result = it.run(MemoryModel::managed_advised, cards(2) + faults);
  EXPECT_EQ(result.bytes_between_devices, 2 * megabyte);
}

// Both want it at the same time: the second one waits until the first one has it, and gets it from there.
TEST(UnifiedMemory, ADatumMovesOneWayAtATime) {
  Paged it;
  const DatumIndex own[] = {it.datum(0), it.datum(1)}, a = it.datum(-1);
  for (const DatumIndex one : own) it.task({{one, change}, {a, read}});
  constexpr double from_host = faults_of_a_megabyte + a_megabyte_over_the_wire;
  constexpr double from_peer = faults_of_a_megabyte + a_megabyte_to_a_peer;
  constexpr double home = 20e-6 + a_megabyte_over_the_wire;  // of each device at the same time
  for (const MemoryModel model : {MemoryModel::managed, MemoryModel::managed_advised}) {
    const SimulationResult result = it.run(model, cards(2) + faults);
    EXPECT_DOUBLE_EQ(result.seconds, 2 * from_host + from_peer + 0.001 + home) << name_of(model);
    EXPECT_DOUBLE_EQ(result.stalled_seconds, 2 * from_host + 2 * from_host + from_peer);
  }
}

// In turns each device reads what the other has just written, and `a`, which no task writes. If a page has only
// one replica, all three data move every turn; otherwise only the written data.
TEST(UnifiedMemory, ReadersThrashUnlessAdvisedThatADatumIsMostlyRead) {
  Paged it;
  const DatumIndex own[] = {it.datum(0), it.datum(1)}, a = it.datum(-1);
  for (int turn = 0; turn < 6; ++turn)
    it.task({{own[turn % 2], change}, {own[(turn + 1) % 2], read}, {a, read}});
  const SimulationResult taken = it.run(MemoryModel::managed, cards(2) + faults);
  const SimulationResult shared = it.run(MemoryModel::managed_advised, cards(2) + faults);
  EXPECT_EQ(taken.bytes_to_devices, 3 * megabyte);
  EXPECT_EQ(shared.bytes_to_devices, 3 * megabyte);
  EXPECT_EQ(taken.bytes_between_devices, 5 * 3 * megabyte);
  EXPECT_EQ(shared.bytes_between_devices, (3 + 4) * megabyte);
  // At the end both written data are on device 1, or one on each.
  EXPECT_NEAR(taken.seconds - shared.seconds,
              4 * 2 * (faults_of_a_megabyte + a_megabyte_to_a_peer) + 20e-6 + a_megabyte_over_the_wire, 1e-9);
}

// The device holds 6 blocks. A and B are written, C needs two more: A's first blocks go, 1 MB, before C's
// come. A needs them again: B, used longest ago, gives up as many.
TEST(UnifiedMemory, AFullDeviceEvictsTheLeastRecentlyUsedBlocks) {
  Paged it;
  const DatumIndex a = it.datum(0, 2 * megabyte), b = it.datum(0), c = it.datum(0);
  it.task({{a, change}});
  it.task({{b, change}});
  it.task({{c, read}});
  SimulationResult result = it.run(MemoryModel::managed);
  EXPECT_EQ(result.evictions, 2u);
  EXPECT_EQ(result.bytes_to_devices, 4 * megabyte);
  EXPECT_EQ(result.bytes_from_devices, 3 * megabyte);  // 1 to make room, the rest of A and B at the end
  it.task({{a, change}});
  result = it.run(MemoryModel::managed);
  EXPECT_EQ(result.evictions, 4u);
  EXPECT_EQ(result.bytes_to_devices, 5 * megabyte);
  // 1 of A, 1 of B, and A at the end.
  EXPECT_EQ(result.bytes_from_devices, 4 * megabyte);
}

// A replica of the host's page is dropped; a page that has moved is written back, changed or not.
TEST(UnifiedMemory, AReplicaIsEvictedWithoutACopy) {
  Paged it;
  for (int i = 0; i < 4; ++i) it.task({{it.datum(0), read}});
  const SimulationResult shared = it.run(MemoryModel::managed_advised);
  EXPECT_EQ(shared.evictions, 2u);
  EXPECT_EQ(shared.bytes_from_devices, 0u);
  EXPECT_EQ(it.run(MemoryModel::managed).bytes_from_devices, megabyte);
}

// Four times 1 MB; before the last one comes, a block-wise write-back of what the first has written.
TEST(UnifiedMemory, EvictionComesBeforeTheFault) {
  Paged it;
  for (int i = 0; i < 4; ++i) it.task({{it.datum(0), change}});
  const double each = faults_of_a_megabyte + a_megabyte_over_the_wire + 0.001;
  const double home = 20e-6 + a_megabyte_over_the_wire;
  EXPECT_DOUBLE_EQ(it.run(MemoryModel::managed).seconds, 4 * each + a_megabyte_over_the_wire + 3 * home);
}

// The second datum arrives while the first task computes, as an explicit copy without faults.
TEST(UnifiedMemory, PrefetchesArriveAheadAndWithoutFaults) {
  Paged it;
  for (int i = 0; i < 2; ++i) it.task({{it.datum(0), read}});
  const SimulationResult result = it.run(MemoryModel::managed_prefetched);
  EXPECT_EQ(result.fault_batches, 0u);
  EXPECT_DOUBLE_EQ(result.seconds, 2 * (20e-6 + a_megabyte_over_the_wire) + 0.001);
}

// Reading 2 MB takes longer than 1 ms of work; with 0.5 MB the work takes longer. Each use crosses the wire.
TEST(UnifiedMemory, MappedDataCrossTheWireAtEachUse) {
  Paged it;
  const DatumIndex large = it.datum(0, 2 * megabyte), little = it.datum(0, megabyte / 2);
  it.task({{large, read}});
  it.task({{little, change}});
  it.task({{large, read}});
  const SimulationResult result = it.run(MemoryModel::host_mapped, cards(1));  // without fault costs
  EXPECT_DOUBLE_EQ(result.seconds, 0.002 + 0.001 + 0.002);
  EXPECT_EQ(result.bytes_to_devices, 4 * megabyte + megabyte / 2);
  EXPECT_EQ(result.bytes_from_devices, megabyte / 2);
  EXPECT_EQ(result.stalled_seconds, 0);
}

// A stream whose kernel stands still leaves the device to the other one: 1 ms of work on A is over, and does
// not take twice as long, while B comes.
TEST(UnifiedMemory, OtherStreamsComputeWhileOneStalls) {
  Paged it;
  const DatumIndex a = it.datum(0), b = it.datum(0);
  it.task({{a, read}});
  it.task({{b, read}});
  const SimulationResult result = it.run(
      MemoryModel::managed,
      "[[device]]\nprocessor = \"card\"\nmemory = \"3100kB\"\nbandwidth = \"1GB/s\"\nstreams = 2\n" + faults);
  EXPECT_NEAR(result.seconds, 2 * (faults_of_a_megabyte + a_megabyte_over_the_wire) + 0.001, 1e-8);
}

// Back to the host's memory by faults, too.
TEST(UnifiedMemory, CoresTakePagesBack) {
  Paged it;
  const DatumIndex a = it.datum(0);
  it.task({{a, change}});
  const KernelIndex on_core = it.program.kernel("on core");
  it.program.task({.kernel = on_core, .flops = 1e6F, .side = 1}, {{a, change}});
  std::string devices = cards(1) + faults;
  const std::string core = "[[processor.core.rate]]\nkernel = \"on core\"\ngflops = 1\n";
  const SimulationResult result = it.run(MemoryModel::managed, core + devices, 1);
  EXPECT_EQ(result.bytes_from_devices, megabyte);
  EXPECT_EQ(result.fault_batches, 6u);
}

// Whatever the policy does, and however little the devices hold: every task runs, and a run is its seed.
TEST(UnifiedMemory, AllPoliciesFinishUnderAllModelsAlsoWhenDevicesAreFull) {
  const Program program = make_workload("cholesky", {4800, 480, Precision::double_});
  for (const backend::MemoryModelName& model : backend::memory_models)
    for (const char* policy : {"eager", "lws", "dmdas", "heft-tmdp-pr", "darts", "blocks", "laheteroprio",
                               "owner-user", "owner-random"}) {
      SCOPED_TRACE(std::string(model.name) + ", " + policy);
      const SimulatedMachine machine(machine::load_machine("summit"),
                                     {.devices = 3,
                                      .cores = 2,
                                      .device_memory = Bytes{24} << 20,
                                      .streams = 2,
                                      .memory_model = model.model},
                                     program, Precision::double_);
      const SimulationOptions options{.advice = Advice::cyclic, .seed = 3, .noise_percent = 10};
      const SimulationResult result = simulate(program, machine, policy, options);
      EXPECT_EQ(result.tasks, program.tasks.size());
      EXPECT_EQ(simulate(program, machine, policy, options).seconds, result.seconds);
      if (!backend::is_managed(model.model)) continue;
      EXPECT_GT(result.evictions, 0u);
      for (const report::NodeReport& node : result.nodes)
        EXPECT_LE(node.peak, node.capacity.value_or(node.peak)) << node.name;
    }
}

TEST(UnifiedMemory, IsRefusedWhereItHasNoMeaning) {
  Paged it;
  it.task({{it.datum(0), read}});
  const auto refusal = [&](const std::string& devices, MachineConfig use) -> std::string {
    try {
      const SimulatedMachine machine(machine::read_machine(machine_text(devices, 1), "m.toml"), use,
                                     it.program, Precision::single);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal(cards(1), {.memory_model = MemoryModel::managed}),
              HasSubstr("describes no [unified_memory]"));
  EXPECT_THAT(refusal(cards(1) + faults, {.devices = 0, .memory_model = MemoryModel::host_mapped}),
              HasSubstr("is one of devices"));
  EXPECT_THAT(refusal(cards(1) + faults + "[disk]\nbandwidth = \"1GB/s\"\n",
                      {.data = DataHome::disk, .memory_model = MemoryModel::managed}),
              HasSubstr("not on the disk"));
  EXPECT_EQ(refusal(cards(1), {.memory_model = MemoryModel::host_mapped}), "accepted");
}

TEST(UnifiedMemory, ATaskThatIsLargerThanTheDeviceDoesNotRun) {
  Paged it;
  it.task({{it.datum(0, 2 * megabyte), read}, {it.datum(0, 2 * megabyte), read}});
  const SimulatedMachine machine(machine::read_machine(machine_text(cards(1) + faults, 1), "m.toml"),
                                 {.cores = 0, .memory_model = MemoryModel::managed}, it.program,
                                 Precision::single);
  EXPECT_THAT(outcome_of(it.program, machine, "eager", {}).problem, HasSubstr("push each other out"));
}

}  // namespace fairlead::simulate
