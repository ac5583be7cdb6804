// Backends: what a machine consists of in addition to cores and RAM, such as a disk, accelerators or generated data.
// The builder of a runtime passes a list of backends. All code specific to one is in its own folder, or in a file of
// the program.
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/config.hpp>
#include <fairlead/setting.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/transfer_engine.hpp"
#include "base/device_memory.hpp"
#include "base/time.hpp"
#include "config/value.hpp"
#include "engine/world.hpp"
#include "machine/topology.hpp"

namespace fairlead::backend {

class Checksums;
struct DiskTraffic;
class SpillFile;

/// Resources of a runtime that its parts use. They outlive the parts, except the settings.
struct BackendResources {
  const Config* config = nullptr;  ///< valid until begin() returns
  SpillFile* spill = nullptr;      ///< the storage of the store node
  Checksums* checksums = nullptr;  ///< of the spill file; null: none
  DiskTraffic* traffic = nullptr;  ///< byte counters of the spill file
  /// RAM that copies use: the host node, and the staging buffers.
  std::array<std::span<std::byte>, 2> host_memory{};
};

/// Runs the bodies of a device's workers.
class DeviceProcessor {
 public:
  virtual ~DeviceProcessor() = default;
  /// Called on the worker's thread. Passes the body's exceptions on. False: the body was not called, since the device
  /// is lost; the site was notified of that before.
  virtual bool run(const Implementation& implementation, TaskContext& context) = 0;
};

/// The interface through which a part registers itself during setup. Registrations hold until the end of the run.
class BackendHost {
 public:
  virtual ~BackendHost() = default;
  virtual const Topology& topology() const noexcept = 0;
  virtual const BackendResources& surroundings() const noexcept = 0;
  /// Sets the address at which bodies on the node see its memory, not null. Only code of the device dereferences it.
  virtual void set_memory(NodeId node, void* begin) = 0;
  /// The network may transfer into this memory. The caller owns it and keeps it until the site ends.
  virtual void set_network_target(NodeId node, DeviceMemory& memory) = 0;
  /// Transfers over the link go to `engine`. The caller owns it and keeps it until it is stopped.
  virtual void set_transfer_engine(LinkId link, TransferEngine& engine) = 0;
  /// The worker also runs the chore, between two tasks, after a wake-up.
  virtual void add_chore(WorkerId worker, Chore& chore) = 0;
  /// All core workers poll it. At most one can be registered.
  virtual void set_poller(Poller& lookout) = 0;
  /// The worker's bodies run through the processor.
  virtual void set_processor(WorkerId worker, DeviceProcessor& processor) = 0;

  // The following may be called by any thread, during the whole run.
  virtual Time now() noexcept = 0;
  virtual std::string name_of(DatumId datum) const = 0;
  /// Wakes the worker or workers, since a chore is waiting.
  virtual void wake(engine::WakeTarget who) noexcept = 0;
  /// Reports the loss of a device with its memory and workers. Call it before reporting the failures that the loss
  /// causes, all of which must still be reported. `words`: the driver's text. The workers accept no more tasks. Only
  /// posts an event.
  virtual void report_device_loss(NodeId device, std::string words) = 0;
  /// Aborts the run: work that has started may never end.
  virtual void abort_run(std::exception_ptr why) noexcept = 0;
};

/// An entry of the device list.
struct DeviceEntry {
  std::string text;                   ///< as written by the user
  std::size_t backend = 0;            ///< index in the list of backends
  std::string name;                   ///< for example "emulated 0"
  std::vector<config::Value> values;  ///< values of the backend's options

  /// `option`: the backend's enumeration of its options, in the same order.
  template <class Option>
  const config::Value& value(Option option) const {
    return values[static_cast<std::size_t>(option)];
  }
  template <class Option>
  std::uint64_t number(Option option) const {
    return std::get<std::uint64_t>(value(option));
  }
  /// The memory size, rounded down to whole pages. Throws ConfigError with an example of an entry if none was given.
  template <class Option>
  Bytes memory(Option option, const char* example) const {
    return memory_of(value(option), example);
  }

 private:
  Bytes memory_of(const config::Value& given, const char* example) const;
};

/// A backend's contribution to the machine of one runtime.
class BackendInstance {
 public:
  virtual ~BackendInstance() = default;
  /// Adds one device with its node, workers and links. Throws ConfigError.
  virtual void add_device(Topology&, const DeviceEntry&) {}
  /// Adds what depends on all devices, such as links between them.
  virtual void add_links(Topology&) {}
  /// Allocates memory, starts threads, and registers with the site. Throws SystemError.
  virtual void attach(BackendHost& site) = 0;
};

/// A kind of equipment. Stateless; makes a Part for each runtime.
class Backend {
 public:
  virtual ~Backend() = default;
  /// The name of the backend in "--devices kind:...".
  virtual std::string_view kind() const noexcept = 0;
  /// The options of each device. Empty: the backend has no devices and is always present.
  virtual std::span<const Setting> device_options() const noexcept { return {}; }
  /// True if the devices are the machine's: its ranks share them. Otherwise each rank has its own.
  virtual bool is_shared_by_ranks() const noexcept { return false; }
  virtual std::unique_ptr<BackendInstance> make() const = 0;
};

/// In setup order; parts are destroyed in reverse order.
using Backends = std::vector<std::shared_ptr<const Backend>>;

/// Disk, accelerators and generated data: the default list of a runtime.
Backends default_backends();

}  // namespace fairlead::backend
