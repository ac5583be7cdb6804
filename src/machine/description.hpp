// A simulated machine, as described by a machine file: processors and the rates of kernels on them, memories, links,
// and shared buses.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/worker_kind.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "machine/bandwidth.hpp"

namespace fairlead::machine {

inline constexpr std::size_t max_devices = 28;  ///< memory nodes are bits of a word

/// The rate of one kernel on a processor.
struct KernelRate {
  std::string kernel;     ///< as tasks name it; "*" is any kernel without a rate of its own
  std::string precision;  ///< "single" or "double"; empty: both
  double flops_per_second = 0;
  /// The side of a tile, in elements, with half of that rate: flops_per_second x side / (side + half_side).
  double half_side = 0;
  /// Replaces the previous two if not empty: pairs (side, flops per second) with growing sides. Interpolated linearly
  /// between them; constant outside.
  std::vector<std::pair<double, double>> by_side;
  Duration overhead{};  ///< the added time of every task, such as a kernel launch

  double rate(double side) const noexcept;
  Duration duration(double flops, double side) const noexcept;
};

struct ProcessorDescription {
  std::string name;
  WorkerKind kind{};
  std::vector<KernelRate> rates;

  /// The rate of a kernel: the first match, a rate with the kernel's own name before "*". Null if the processor cannot
  /// run it.
  const KernelRate* rate_of(std::string_view kernel, std::string_view precision) const noexcept;
};

/// A physical link.
struct LinkDescription {
  Bandwidth bytes_per_second = 1e9;  ///< of copies that have the link to themselves
  bool duplex = true;                ///< as LinkSpec::duplex
  Duration latency{};
  std::vector<std::string> buses;  ///< buses that it shares with other links
};

/// A bus that several links share.
struct BusDescription {
  std::string name;
  Bandwidth bytes_per_second = 1e9;
  bool duplex = true;
  /// The device, if this is its port to all its peers. Its directions are then into the device and out of it.
  std::optional<std::size_t> port_of{};
};

struct DeviceDescription {
  std::string name;
  std::string processor;
  Bytes memory = 0;
  unsigned streams = 1;              ///< the number of concurrent tasks
  double concurrent_throughput = 1;  ///< the throughput of that many tasks relative to one at a time
  LinkDescription link{};            ///< to the host's memory
  /// For a device on host cores: the cores that each task uses, shared with all other tasks there. Otherwise 0.
  unsigned host_cores_per_task = 0;
};

/// A direct link between two devices.
struct PeerDescription {
  std::size_t first = 0, second = 0;  ///< device numbers; the direction away is from the first
  LinkDescription link;
};

/// The network between nodes; used if there are several.
struct NetworkDescription {
  std::size_t nodes = 1;
  std::size_t interfaces = 1;          ///< per node
  LinkDescription link;                ///< from a network interface to its switch
  Duration per_message{};              ///< time of a node's network thread to send or receive a message
  double per_byte_nanoseconds = 0;     ///< its time for each byte
  bool polled_by_workers = false;      ///< no network thread: workers process messages between tasks
  bool in_order = false;               ///< a message waits for payloads sent before it in the same direction
  std::size_t nodes_per_switch = 0;    ///< 0: one switch for all
  double switch_bytes_per_second = 0;  ///< bytes per second between switches; 0: no limit
  /// True: interfaces are attached to equally many devices each, in order; data of the host's memory cross the link of
  /// an interface's first device. False: interfaces are attached to the host; data of a device cross that device's link.
  bool interfaces_on_devices = false;
};

/// How the driver handles page faults in managed memory. Each device handles one batch of faults at a time; kernels
/// stall until their pages have arrived.
struct UnifiedMemoryDescription {
  Bytes page = 0;               ///< smallest unit of migration, in bytes
  Bytes block = 0;              ///< unit of eviction, in bytes
  std::size_t batch_pages = 1;  ///< pages moved by a batch of faults, including prefetched ones
  Duration batch_time{},
      time_per_page{};  ///< time of a batch, and added time per page, without the transfers
};

struct MachineDescription {
  std::string name, summary;
  std::string source;  ///< the sources of the figures, and assumptions
  std::size_t cores = 0;
  std::string core_processor;  ///< the name of their processor
  /// Sizes of nested groups of neighbouring cores that share a package, a NUMA node or a cache; the largest first.
  std::vector<std::size_t> core_group_sizes;
  Bytes memory = 0;  ///< of the host, in bytes
  std::optional<LinkDescription> disk;
  std::vector<ProcessorDescription> processors;
  std::vector<BusDescription> buses;
  std::vector<DeviceDescription> devices;
  std::vector<PeerDescription> peers;
  NetworkDescription network;
  std::optional<UnifiedMemoryDescription> unified_memory;  ///< none: the devices do not support page faults

  /// Throws ConfigError if there is no processor of that name.
  const ProcessorDescription& processor(std::string_view wanted) const;
};

/// Parses a machine file (TOML). `file` is for messages. Throws ConfigError with file, line, key, and the expected
/// value.
MachineDescription read_machine(std::string_view text, std::string_view file);

}  // namespace fairlead::machine
