// CUDA's driver for managed memory, simulated. If a kernel accesses pages that are elsewhere, they are faulted in
// while the kernel is stalled. Each device has one fault handler. It serves one datum at a time: evicts, takes the
// time of the fault batches, and moves the bytes over the links. A datum has one transfer at a time. Passive: the
// World performs delays and transfers and calls resume() at their end.
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

  /// A request for pages in one place; owned by the driver.
  class Request;
  struct World {
    /// Calls resume() after this time.
    std::function<void(Duration, Request&)> wait;
    /// Calls resume() when the bytes have crossed these links.
    std::function<void(Bytes, std::span<const RouteStep>, Request&)> transfer;
    /// Resumes the kernel that was stalled on this worker. Also called from within touch().
    std::function<void(WorkerId)> go_on;
  };

  PageDriver(MemoryModel model, const machine::UnifiedMemoryDescription& costs, const memory::Memory& memory,
             std::function<bool(DatumId)> has_value, World world);
  ~PageDriver();

  /// The task's kernel starts on the worker. Calls go_on() as soon as its data are resident.
  void touch(const Task& task, WorkerId worker, NodeId node);
  /// The task will run on the node: prefetches its data if the memory model does so.
  void given(const Task& task, NodeId node);
  /// Migrates modified data to host memory, as cudaMemPrefetchAsync does.
  void bring_home();
  void resume(Request& request);
  bool idle() const noexcept { return busy_ == 0; }

  /// By link, in the form of Memory::traffic().
  std::span<const memory::LinkTraffic> traffic() const noexcept { return traffic_; }
  std::uint64_t fault_batches() const noexcept { return fault_batches_; }
  std::uint64_t evictions() const noexcept { return pages_.evictions(); }  ///< in blocks
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
  void datum_arrived(Request& request);
  void finish(Request& request);
  void transfer(const UnifiedPages::Move& move, memory::Cause cause, Request& request);
  Duration latency(std::span<const UnifiedPages::Move> moves) const;

  MemoryModel model_;
  machine::UnifiedMemoryDescription costs_;
  const memory::Memory& memory_;
  std::function<bool(DatumId)> has_value_;
  World world_;
  UnifiedPages pages_;
  std::vector<std::deque<Request*>> handlers_;  // by place; the first request is being served
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
