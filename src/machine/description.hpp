// A machine as a file describes it: processors and how fast kernels are on them, memories, and the wires
// between, with what copies at the same time have to share. For the simulator: one need not have it.
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

inline constexpr std::size_t most_devices = 28;  ///< nodes are bits of a word

/// How fast one kernel is on a processor.
struct KernelRate {
  std::string kernel;     ///< as tasks name it; "*": all that have no rate of their own
  std::string precision;  ///< "single" or "double"; empty: both
  double flops_per_second = 0;
  /// The side at which half of that is reached: the rate is flops_per_second x side / (side + half_side).
  double half_side = 0;
  /// In place of those two: (side, flops per second), by growing side; between two of them on a straight
  /// line, outside as at the nearest.
  std::vector<std::pair<double, double>> by_side;
  Duration overhead{};  ///< what every task takes besides: launching it

  double rate(double side) const noexcept;
  Duration duration(double flops, double side) const noexcept;
};

struct ProcessorDescription {
  std::string name;
  WorkerKind kind{};
  std::vector<KernelRate> rates;

  /// Null if it cannot run the kernel. The first that fits, one with the kernel's own name before "*".
  const KernelRate* rate_of(std::string_view kernel, std::string_view precision) const noexcept;
};

struct WireDescription {
  Bandwidth bytes_per_second = 1e9;  ///< of copies that have it for themselves
  bool duplex = true;                ///< as LinkSpec::duplex
  Duration latency{};
  std::vector<std::string> buses;  ///< what its copies share with those of others
};

/// What several wires go through.
struct BusDescription {
  std::string name;
  Bandwidth bytes_per_second = 1e9;
  bool duplex = true;
  /// Of which device it is the port to all its peers, if it is one: the directions are into it and out of it.
  std::optional<std::size_t> port_of{};
};

struct DeviceDescription {
  std::string name;
  std::string processor;
  Bytes memory = 0;
  unsigned streams = 1;    ///< tasks that it runs at the same time
  double together = 1;     ///< what they get done in all, compared with one at a time, if that many run
  WireDescription wire{};  ///< to the host's memory
  /// Of the host's cores each task uses so many, and shares them with all others there.
  unsigned on_cores = 0;
};

struct PeerDescription {
  std::size_t first = 0, second = 0;  ///< of the devices; away from home is from the first
  WireDescription wire;
};

/// Between nodes; used where there are several.
struct NetworkDescription {
  std::size_t nodes = 1;
  std::size_t interfaces = 1;          ///< of each node
  WireDescription wire;                ///< of each network interface to its switch
  Duration per_message{};              ///< what who speaks for a node takes to send one, or to hear it
  double per_byte_nanoseconds = 0;     ///< likewise, for each byte
  bool heard_between_tasks = false;    ///< by workers, as none of them does nothing else
  bool in_order = false;               ///< a message waits for payloads that went the same way before
  std::size_t nodes_per_switch = 0;    ///< 0: one switch for all
  double switch_bytes_per_second = 0;  ///< between switches; 0: never the limit
  /// Each interface to equally many devices, by their order; else to the host: a device's data cross its
  /// wire, too.
  bool attached_to_devices = false;
};

/// What the driver does when a processor touches a page of managed memory that is elsewhere. Faults are
/// served in batches, one after the other on a device; kernels that wait for their pages stand still.
struct UnifiedMemoryDescription {
  Bytes page = 0;                ///< what is moved at least
  Bytes block = 0;               ///< what is evicted at once
  std::size_t batch_pages = 1;   ///< that a batch of faults brings, with those that the driver adds
  Duration batch{}, per_page{};  ///< for serving a batch, and each of its pages, besides moving the bytes
};

struct MachineDescription {
  std::string name, summary;
  std::string source;  ///< where the figures are from, and what was assumed
  std::size_t cores = 0;
  std::string core;  ///< which processor they are
  /// Neighbouring ones share something, so many each, the most first: a package, a NUMA node, a cache.
  std::vector<std::size_t> cores_together;
  Bytes memory = 0;  ///< of the host
  std::optional<WireDescription> disk;
  std::vector<ProcessorDescription> processors;
  std::vector<BusDescription> buses;
  std::vector<DeviceDescription> devices;
  std::vector<PeerDescription> peers;
  NetworkDescription network;
  std::optional<UnifiedMemoryDescription> unified_memory;  ///< none: its devices do not fault

  /// Throws ConfigError if there is none of that name.
  const ProcessorDescription& processor(std::string_view wanted) const;
};

/// Reads TOML. `file`: for messages. Throws ConfigError naming file, line, key, and what would be right.
MachineDescription read_machine(std::string_view text, std::string_view file);

}  // namespace fairlead::machine
