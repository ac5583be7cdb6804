// A machine for the simulator: the topology for the engine, the duration of each task of a program on each worker, and
// lower bounds of the time.
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "backend/sim/memory_model.hpp"
#include "machine/description.hpp"
#include "machine/topology.hpp"
#include "model/estimate.hpp"
#include "simulate/program.hpp"
#include "simulate/work.hpp"

namespace fairlead::simulate {

/// The home of a program's data.
enum class DataHome : std::uint8_t {
  ram,   // in the host's memory: cores use them in place, devices have copies
  disk,  // on the disk: data must be loaded to RAM before use
};

/// The part of the machine that is used. Unset fields mean all of it.
struct MachineConfig {
  std::optional<std::size_t> devices{};
  std::optional<std::size_t> cores{};
  std::optional<Bytes> device_memory{};
  std::optional<Bytes> host_memory{};
  std::optional<double> device_bytes_per_second{};  ///< of the link from RAM to each device
  bool peers = true;  ///< devices use their direct links; otherwise they exchange data through RAM
  std::optional<unsigned> streams{};  ///< of each device
  DataHome data = DataHome::ram;
  backend::MemoryModel memory_model = backend::MemoryModel::explicit_copies;
  unsigned copies_at_once = 2;  ///< per link and direction; further copies wait and can still be revoked
};

inline bool uses_devices(const MachineConfig& use, const machine::MachineDescription& machine) noexcept {
  return use.devices.value_or(machine.devices.size()) > 0;
}

/// Lower bounds of the time of a program, in seconds.
struct TimeBounds {
  double compute = 0;        ///< all workers always busy with their fastest kernels
  double critical_path = 0;  ///< the longest chain of dependent tasks, each on the fastest worker
};

class SimulatedMachine {
 public:
  /// Throws ConfigError if the machine lacks a part that `use` requires, or if no worker can run a task of the program.
  SimulatedMachine(machine::MachineDescription description, const MachineConfig& use, const Program& program,
                   Precision precision);

  const machine::MachineDescription& description() const noexcept { return description_; }
  const Topology& topology() const noexcept { return topology_; }
  NodeId home() const noexcept { return home_; }
  /// Cores use the data in place: nothing is loaded, and bounds of loads do not apply.
  bool computes_at_home() const noexcept { return computes_at_home_; }
  /// Bit k: workers of WorkerKind k can run the kernel.
  std::uint32_t kinds(KernelIndex kernel) const { return kinds_[static_cast<std::size_t>(kernel)]; }
  /// Without noise, on a worker that runs nothing else at the same time. For a worker that cannot run the task, the
  /// default estimate of real runs, where it is never measured: some policies read it before they check can_run().
  Duration duration(const ProgramTask& task, WorkerId worker) const {
    const std::size_t kind = kind_of_worker_[index(worker)];
    if (!runs_on(task, kind)) [[unlikely]]
      return model::Estimate().duration;
    return duration_on(task, kind);
  }
  /// As real runs would measure it: all workers of the processor compute.
  Duration expected(const ProgramTask& task, WorkerId worker) const {
    return Duration(
        std::llround(static_cast<double>(duration(task, worker).count()) * shared_slowdown_[index(worker)]));
  }
  /// On the machine's fastest worker for the task.
  Duration least_duration(const ProgramTask& task) const;
  std::size_t devices() const noexcept { return devices_; }
  /// Host cores that neither run tasks nor drive a device.
  std::size_t idle_cores() const noexcept { return idle_cores_; }
  backend::MemoryModel memory_model() const noexcept { return memory_model_; }
  /// The smallest of the memories in which tasks work.
  Bytes memory() const noexcept { return memory_; }
  /// All memories of devices together, or RAM if there are no devices.
  Bytes memory_in_all() const noexcept { return memory_in_all_; }

  TimeBounds bounds(const Program& program) const;
  /// Lower bound in seconds, with all workers always busy with their fastest kernels.
  double compute_bound(const Work& work) const;
  /// The most bytes that can be transferred to devices (or from the disk to RAM) in the given seconds.
  double bus_bytes(double seconds) const;

 private:
  void check_memory_model(DataHome data) const;
  void add_device(std::size_t number, const MachineConfig& use);
  void share_processors();
  void find_rates(const Program& program, Precision precision);
  void find_stated_durations(const Program& program);
  /// Whether workers of that index in kinds_of_workers_ can run the task; and its duration if so.
  bool runs_on(const ProgramTask& task, std::size_t kind) const {
    return rates_[kind][static_cast<std::size_t>(task.kernel)] != nullptr;
  }
  Duration duration_on(const ProgramTask& task, std::size_t kind) const {
    if (task.timing != TimingIndex::none)
      return stated_durations_[kind][static_cast<std::size_t>(task.timing)];
    return rates_[kind][static_cast<std::size_t>(task.kernel)]->duration(static_cast<double>(task.flops),
                                                                         static_cast<double>(task.side));
  }

  machine::MachineDescription description_;
  Topology topology_;
  NodeId home_{};
  bool computes_at_home_ = false;
  std::size_t devices_ = 0, idle_cores_ = 0;
  backend::MemoryModel memory_model_;
  Bytes memory_ = 0, memory_in_all_ = 0;
  // Each described processor in use, once.
  std::vector<const machine::ProcessorDescription*> kinds_of_workers_;
  std::vector<std::size_t> kind_of_worker_;  // by WorkerId: index in kinds_of_workers_
  std::vector<std::size_t> processor_of_worker_;
  std::vector<double>
      processor_throughput_;             // by processor: its throughput, in units of one of its workers alone
  std::vector<double> shared_slowdown_;  // by WorkerId: slowdown if all workers of its processor compute
  // By kind of worker, then kernel; null: it cannot run the kernel.
  std::vector<std::vector<const machine::KernelRate*>> rates_;
  machine::KernelRate at_once_;  // of kernels without computation, or whose tasks state their durations
  // By kind of worker, then TimingIndex.
  std::vector<std::vector<Duration>> stated_durations_;
  std::vector<std::uint32_t> kinds_;  // by kernel
};

}  // namespace fairlead::simulate
