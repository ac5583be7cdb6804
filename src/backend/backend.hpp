// What a machine is put together from besides its cores and their memory: a disk, accelerators of some kind,
// data that are computed. Each is an entry of a list that whoever builds a runtime hands to it; all that is
// particular to one is in its own folder, or in a program's own file.
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

#include "backend/carrier.hpp"
#include "base/device_memory.hpp"
#include "base/time.hpp"
#include "config/value.hpp"
#include "engine/world.hpp"
#include "machine/topology.hpp"

namespace fairlead::backend {

class Checksums;
struct DiskTraffic;
class SpillFile;

/// What a runtime has that its parts use; all of it but the settings outlives them.
struct Surroundings {
  const Config* config = nullptr;  ///< until begin() returns
  SpillFile* spill = nullptr;      ///< behind the node that is the store
  Checksums* checksums = nullptr;  ///< of it; null: none
  DiskTraffic* traffic = nullptr;  ///< of it, counted
  /// RAM that copies go from and to: the host's node, and the buffers of copies that pass it.
  std::array<std::span<std::byte>, 2> host_memory{};
};

/// Runs bodies as the workers of a device do.
class Processor {
 public:
  virtual ~Processor() = default;
  /// On the worker's thread. What the body throws goes on. False: the body was not called, since the device is lost, as the
  /// site was told before.
  virtual bool run(const Implementation& implementation, TaskContext& context) = 0;
};

/// The world as a part of the machine sees it when it is set up: what it says here holds until the end.
class Site {
 public:
  virtual ~Site() = default;
  virtual const Topology& topology() const noexcept = 0;
  virtual const Surroundings& surroundings() const noexcept = 0;
  /// Where its memory begins for bodies beside the node, not null: if only the device can follow that, nobody
  /// else will.
  virtual void memory_of(NodeId node, void* begin) = 0;
  /// What comes from other ranks may land there. It stays the caller's, until the site ends.
  virtual void lands_in(NodeId node, DeviceMemory& memory) = 0;
  /// What crosses the link is given to the carrier, which stays the caller's, until it is stopped.
  virtual void carry(LinkId link, Carrier& carrier) = 0;
  /// The worker does the chore, too, between two tasks, once it is woken.
  virtual void give(WorkerId worker, Chore& chore) = 0;
  /// All cores look there; one at most.
  virtual void watch(Lookout& lookout) = 0;
  /// The worker's bodies run by it.
  virtual void run_by(WorkerId worker, Processor& processor) = 0;

  // From now on, any thread.
  virtual Time now() noexcept = 0;
  virtual std::string name_of(DatumId datum) const = 0;
  /// There is a chore for them.
  virtual void wake(engine::Who who) noexcept = 0;
  /// The device is lost, its memory and its workers with it: said before the ends of what fails for that reason, all of
  /// which still have to be told. `words`: the driver's. Its workers take no tasks any more. Only posts.
  virtual void lose(NodeId device, std::string words) = 0;
  /// What was begun may never end: the run cannot go on.
  virtual void stop_run(std::exception_ptr why) noexcept = 0;
};

/// An entry of a list of devices.
struct DeviceEntry {
  std::string text;                   ///< as somebody wrote it
  std::size_t backend = 0;            ///< place in the list of backends
  std::string name;                   ///< "emulated 0"
  std::vector<config::Value> values;  ///< of the backend's options

  /// `option`: the backend's own enumeration of them, in their order.
  template <class Option>
  const config::Value& value(Option option) const {
    return values[static_cast<std::size_t>(option)];
  }
  template <class Option>
  std::uint64_t number(Option option) const {
    return std::get<std::uint64_t>(value(option));
  }
  /// In whole pages. Throws ConfigError, which shows what an entry looks like, if none was given.
  template <class Option>
  Bytes memory(Option option, const char* example) const {
    return memory_of(value(option), example);
  }

 private:
  Bytes memory_of(const config::Value& given, const char* example) const;
};

/// What one backend adds to the machine of one runtime.
class Part {
 public:
  virtual ~Part() = default;
  /// Adds one more device, with its node, workers and links. Throws ConfigError.
  virtual void add_device(Topology&, const DeviceEntry&) {}
  /// Adds what takes that all devices are there.
  virtual void add_to(Topology&) {}
  /// Takes memory and threads, and says who carries what. Throws SystemError.
  virtual void begin(Site& site) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// As in "--devices kind:...".
  virtual std::string_view kind() const noexcept = 0;
  /// What may be said of each of its devices. Empty: it has none, and is there always.
  virtual std::span<const Setting> device_options() const noexcept { return {}; }
  /// Its devices are the machine's: ranks that are there share them. Else each rank has what it names.
  virtual bool of_machine() const noexcept { return false; }
  virtual std::unique_ptr<Part> make() const = 0;
};

/// In the order in which parts are set up; they end in the opposite order.
using Backends = std::vector<std::shared_ptr<const Backend>>;

/// A disk, accelerators, data computed on first touch: what every runtime has unless somebody hands
/// it another list.
Backends default_backends();

}  // namespace fairlead::backend
