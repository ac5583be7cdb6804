// The emulated accelerators of a run: their memory, the wires between them, RAM and each other, and the
// buffers through which copies from and to the disk pass.
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "backend/disk/io_threads.hpp"
#include "backend/emulated/wire.hpp"
#include "backend/generation/generations.hpp"
#include "backend/transit/transit.hpp"
#include "machine/topology.hpp"
#include "memory/replica.hpp"
#include "memory/routes.hpp"

namespace fairlead::backend {

struct DeviceOptions {
  NodeId node{};
  std::byte* arena = nullptr;    ///< as large as the node's capacity
  bool blocking_copies = false;  ///< its worker moves the bytes, between two tasks
  double speed = 1;              ///< of its worker, as a part of a core's: tasks are stretched to it
  std::byte* transit = nullptr;  ///< pieces x piece_bytes, aligned for direct I/O
  Bytes piece_bytes = 0;
  unsigned pieces = 0;
};

class Devices {
 public:
  struct Surroundings {
    const Topology* topology;
    const memory::Routes* routes;
    std::byte* ram = nullptr;  ///< the arena of the node RAM
    Wire::Clock clock;
    std::function<void(const IoRequest&)> submit_to_disk;  ///< of the spill file; offsets are set
    std::function<void(const Generation&)> generate;       ///< ends with generated()
    std::function<void(memory::Copy&, int error_number)> copy_done;
    std::function<void(WorkerId)> wake;              ///< the worker has bytes to move
    std::function<void(std::exception_ptr)> failed;  ///< nothing that was begun may end any more
  };
  Devices(std::vector<DeviceOptions> options, Surroundings surroundings);
  ~Devices();

  /// Begins a copy that has a device at one end. Any thread.
  void start(memory::Copy& copy);
  /// A transfer that submit_to_disk() began is over. Its token is one of ours.
  void disk_done(const IoResult& result);
  static bool is_ours(const IoResult& result) noexcept;
  /// What generate() began is over.
  static void generated(void* token, int error_number);

  /// Moves some bytes if the worker has to and there are any.
  bool play_one(WorkerId worker);
  bool waiting(WorkerId worker) const;
  double speed_of(NodeId node) const noexcept;
  void lift_caps() noexcept;
  /// No more copies are carried on, and the threads of wires end; the disk must still be there.
  void stop() noexcept;

 private:
  std::byte* address_of(const memory::Replica& replica) const noexcept;
  void carry(const Hop& hop);
  void moved(void* token) noexcept;
  const DeviceOptions* device_at(NodeId node) const noexcept;

  const std::vector<DeviceOptions> options_;
  const Surroundings around_;
  std::vector<std::unique_ptr<Transit>> transits_;  // by device
  std::vector<std::vector<Wire*>> played_by_;       // by worker
  std::vector<std::unique_ptr<Wire>> wires_;        // by LinkId; null where there is none of ours
};

}  // namespace fairlead::backend
