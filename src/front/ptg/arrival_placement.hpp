// The memory in which values from other ranks arrive, if not host memory. The device is chosen when the rank is
// notified of a value, before it requests it. In simulated runs values are also sent from the device that has them.
// Together, values in flight take at most what the largest task leaves of each device; all others pass through host
// memory (rule 10 of docs/memory.md).
#pragma once
#include <fairlead/place_hint.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/runtime_core.hpp"
#include "front/ptg/flow_values.hpp"
#include "front/ptg/own_steps.hpp"
#include "front/ranks/receive_placement.hpp"
#include "net/endpoint_commands.hpp"

namespace fairlead::ptg {

/// Chooses the memory node of values in flight, and accounts for the space that they take.
class ArrivalPlacement {
 public:
  /// All arguments must outlive the object.
  ArrivalPlacement(const engine::RuntimeCore& core, const ClassTable& table, const RankPlacement& placement,
                   FlowValues& values, const front::ReceivePlacementChoice& landing);

  /// Call before each run, from the program's thread. `largest_footprint`: in bytes, of the graph's tasks.
  void begin(Bytes largest_footprint);

  // ---- thread-safe

  /// The destination of an arriving value, and a reservation for it. `number`: of the datum that receives it.
  /// `whole`: the value arrives as one block; otherwise a core assembles it in host memory. An empty hint means host
  /// memory.
  PlaceHint reserve_arrival(const net::ValueName& name, std::uint32_t number, Bytes bytes, bool whole);
  /// The memory from which a value is sent, and a reservation for it; only in simulated runs.
  PlaceHint reserve_departure(net::OutgoingId id, Bytes bytes);
  /// Release the reservation: the value has arrived, will not arrive, or has been sent.
  void release(std::uint32_t number);
  void release(net::OutgoingId id);
  /// A task has changed this datum of a collection on this node.
  void changed(std::uint32_t number, NodeId node) noexcept {
    if (number < last_writer_device_.size() && node != no_id<NodeId>)
      last_writer_device_[number].store(device_of_[index(node)], std::memory_order_relaxed);
  }

 private:
  /// The first task of this rank that reads a value.
  struct Reader {
    const TableClass* of = nullptr;
    std::uint32_t at = no_value;  ///< the number of the datum that determines where it runs
  };
  Reader first_reader(const net::ValueName& name) const;
  int only_device_for(const TableClass& of) const;
  int device_for(const net::ValueName& name) const;

  const engine::RuntimeCore& core_;
  const ClassTable& table_;
  FlowValues& values_;
  const front::ReceivePlacement landing_;
  const bool simulated_;
  std::vector<int> devices_;            // devices in which values may arrive
  std::vector<std::int8_t> device_of_;  // by node: the device's number
  const OwnSteps own_;
  // of data in collections: the device that the program advised; constant during a run
  std::vector<std::int8_t> advice_;
  /// For data in collections: the device on which a task of this graph last changed the datum. Empty unless
  /// the choice is automatic.
  std::vector<std::atomic<std::int8_t>> last_writer_device_;
  std::mutex mutex_;                  // guards the members below
  std::vector<Bytes> arrival_space_;  // bytes left for arriving values, by device
  Bytes departure_space_ = 0;         // bytes left for outgoing values, on each device
  struct Taken {
    int device = no_device;
    Bytes bytes = 0;
  };
  std::unordered_map<std::uint32_t, Taken> coming_;  // reservations, by the datum's number
  std::unordered_map<net::OutgoingId, Bytes> going_;
};

}  // namespace fairlead::ptg
