// CUDA's driver in a simulation: what a kernel touches that is elsewhere is faulted in while the kernel
// stands still. One device has one handler of faults, which serves a datum after the other: makes room, takes
// the time of so many batches, and moves the bytes over the machine's wires. A datum moves one way at a time.
// Passive: the world carries out what it is asked for, and says when that is over.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/sim/memory_model.hpp"
#include "backend/sim/unified_pages.hpp"
#include "machine/description.hpp"
#include "memory/memory.hpp"

namespace fairlead::backend {

class PageDriver {
 public:
  using Place = UnifiedPages::Place;

  /// Pages that are wanted somewhere; belongs to the driver.
  class Request;
  struct World {
    /// Calls resume() when so long has passed.
    std::function<void(Duration, Request&)> wait;
    /// Calls resume() when so many bytes have crossed these wires.
    std::function<void(Bytes, std::span<const Leg>, Request&)> carry;
    /// The kernel that waited on this worker may go on. Also called from within touch().
    std::function<void(WorkerId)> go_on;
  };

  PageDriver(MemoryModel model, const machine::UnifiedMemoryDescription& costs, const memory::Memory& memory,
             std::function<bool(DatumId)> has_value, World world);
  ~PageDriver();

  /// The task's kernel begins on the worker: it goes on when all that it uses is there.
  void touch(const Task& task, WorkerId worker, NodeId node);
  /// The task will run on the node: its data are asked for, if the model is one that does.
  void given(const Task& task, NodeId node);
  /// What was written goes back to the host's memory: over the wires, as by cudaMemPrefetchAsync.
  void bring_home();
  void resume(Request& request);
  bool idle() const noexcept { return busy_ == 0; }

  /// By link, as Memory::traffic().
  std::span<const memory::LinkTraffic> traffic() const noexcept { return traffic_; }
  std::uint64_t fault_batches() const noexcept { return fault_batches_; }
  std::uint64_t evictions() const noexcept { return pages_.evictions(); }  ///< of blocks
  Bytes peak_bytes(NodeId node) const noexcept { return pages_.peak_bytes(place_of(node)); }

 private:
  struct Wanted {
    UnifiedPages::Datum datum;
    UnifiedPages::Use use{};
  };
  enum class Cause : std::uint8_t { fault, prefetch, home };

  Place place_of(NodeId node) const noexcept;
  UnifiedPages::Options pages_options(const machine::UnifiedMemoryDescription& costs) const;
  std::vector<Wanted> wanted_by(const Task& task) const;
  Request& make_request(Cause cause, Place place, WorkerId worker, std::vector<Wanted> wanted);
  void check_size(const std::vector<Wanted>& wanted, Place place) const;
  bool all_there(const std::vector<Wanted>& wanted, Place place) const;
  void enter(Request& request);
  void next_datum(Request& request);
  void next_home(Request& request);
  void begin(Request& request);
  void serve(Request& request);
  void move(Request& request);
  void landed(Request& request);
  void over(Request& request);
  void carry(const UnifiedPages::Move& move, memory::Cause cause, Request& request);
  Duration latency(std::span<const UnifiedPages::Move> moves) const;

  MemoryModel model_;
  machine::UnifiedMemoryDescription costs_;
  const memory::Memory& memory_;
  std::function<bool(DatumId)> has_value_;
  World world_;
  UnifiedPages pages_;
  std::vector<std::deque<Request*>> handlers_;  // by place: the first is being served
  struct Moving {
    bool now = false;
    std::deque<Request*> waiting;
  };
  std::vector<Moving> moving_;  // by DatumId
  Moving& moving(DatumId id);
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> free_;
  std::size_t busy_ = 0;
  std::vector<memory::LinkTraffic> traffic_;
  std::uint64_t fault_batches_ = 0;
};

}  // namespace fairlead::backend
