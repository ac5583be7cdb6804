// A described machine as the simulator uses it: the topology that the engine sees, how long each task of a
// program takes on each worker, and what no schedule can beat.
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

/// Where a program's data are before and after the run.
enum class DataAt : std::uint8_t {
  ram,   // in the host's memory: cores use them in place, devices have copies
  disk,  // on the disk: what is used has to be brought to RAM first
};

/// Which part of the machine is used. What is not said is all there is.
struct MachineUse {
  std::optional<std::size_t> devices{};
  std::optional<std::size_t> cores{};
  std::optional<Bytes> device_memory{};
  std::optional<Bytes> host_memory{};
  std::optional<double> device_bytes_per_second{};  ///< of the wire from RAM to each device
  bool peers = true;  ///< devices that have wires to each other use them; else what they exchange crosses RAM
  std::optional<unsigned> streams{};  ///< of each device
  DataAt data = DataAt::ram;
  backend::MemoryModel memory_model = backend::MemoryModel::explicit_copies;
  unsigned copies_at_once = 2;  ///< of each wire in each direction; the rest waits where it can be taken back
};

inline bool uses_devices(const MachineUse& use, const machine::MachineDescription& machine) noexcept {
  return use.devices.value_or(machine.devices.size()) > 0;
}

/// What bounds a run of the program from below, in seconds.
struct TimeBounds {
  double compute = 0;        ///< all workers busy all the time with what each does best
  double critical_path = 0;  ///< the longest chain of dependent tasks, each on the fastest worker
};

class SimulatedMachine {
 public:
  /// Throws ConfigError if the machine has not what `use` asks for, or a task of the program can run nowhere.
  SimulatedMachine(machine::MachineDescription description, const MachineUse& use, const Program& program,
                   Precision precision);

  const machine::MachineDescription& description() const noexcept { return description_; }
  const Topology& topology() const noexcept { return topology_; }
  NodeId home() const noexcept { return home_; }
  /// Cores use the data where they are: nothing has to be loaded, and no bound of loads holds.
  bool computes_at_home() const noexcept { return computes_at_home_; }
  /// Bit k: workers of WorkerKind k run the kernel.
  std::uint32_t kinds(KernelIndex kernel) const { return kinds_[static_cast<std::size_t>(kernel)]; }
  /// Without noise; on a worker that runs nothing else at the same time. Of one that cannot run it as in real runs, where that is never
  /// learned: some policies ask before they look who can.
  Duration duration(const ProgramTask& task, WorkerId worker) const {
    const machine::KernelRate* rate =
        rates_[kind_of_worker_[index(worker)]][static_cast<std::size_t>(task.kernel)];
    if (rate == nullptr) [[unlikely]]
      return model::Estimate().duration;
    return rate->duration(static_cast<double>(task.flops), static_cast<double>(task.side));
  }
  /// As runs learn it: where all that share the worker's processor compute, too.
  Duration expected(const ProgramTask& task, WorkerId worker) const {
    return Duration(
        std::llround(static_cast<double>(duration(task, worker).count()) * times_longer_[index(worker)]));
  }
  /// On the worker of the machine that is fastest at it.
  Duration least_duration(const ProgramTask& task) const;
  std::size_t devices() const noexcept { return devices_; }
  /// Of the host, that neither work nor drive a device.
  std::size_t idle_cores() const noexcept { return idle_cores_; }
  backend::MemoryModel memory_model() const noexcept { return memory_model_; }
  /// Of one memory that tasks work in: the smallest.
  Bytes memory() const noexcept { return memory_; }
  /// Of all memories of devices together, or of RAM if there are none.
  Bytes memory_in_all() const noexcept { return memory_in_all_; }

  TimeBounds bounds(const Program& program) const;
  /// Seconds that the work takes at least, all workers busy with what each does best.
  double compute_bound(const Work& work) const;
  /// The most that devices (or RAM, from the disk) can be given in so many seconds.
  double bus_bytes(double seconds) const;

 private:
  void check_memory_model(DataAt data) const;
  void add_device(std::size_t number, const MachineUse& use);
  void share_processors();
  void find_rates(const Program& program, Precision precision);

  machine::MachineDescription description_;
  Topology topology_;
  NodeId home_{};
  bool computes_at_home_ = false;
  std::size_t devices_ = 0, idle_cores_ = 0;
  backend::MemoryModel memory_model_;
  Bytes memory_ = 0, memory_in_all_ = 0;
  // each described processor in use, once
  std::vector<const machine::ProcessorDescription*> kinds_of_workers_;
  std::vector<std::size_t> kind_of_worker_;  // by WorkerId: place in the above
  std::vector<std::size_t> processor_of_worker_;
  std::vector<double> together_;  // by processor: what its workers get done in all, compared with one of them
  std::vector<double> times_longer_;  // by WorkerId: than alone, if all that share its processor compute
  // by kind of worker, then kernel; null: cannot
  std::vector<std::vector<const machine::KernelRate*>> rates_;
  machine::KernelRate at_once_;       // of what has nothing to compute
  std::vector<std::uint32_t> kinds_;  // by kernel
};

}  // namespace fairlead::simulate
