// Where the values of a graph land that come from other ranks, if not in the host's memory: the device is chosen when a
// rank hears of the value, before it asks for it. In simulated runs what goes to others goes from the device that has it. Together
// they take at most what the largest task leaves of each device; all else goes by the host (rule 10 of docs/memory.md).
#pragma once
#include <fairlead/place_hint.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/runtime_core.hpp"
#include "front/ptg/own_steps.hpp"
#include "front/ptg/values.hpp"
#include "front/ranks/landing.hpp"
#include "net/commands.hpp"

namespace fairlead::ptg {

class LandingPlaces {
 public:
  /// All of them stay.
  LandingPlaces(const engine::RuntimeCore& core, const ClassTable& table, const Placement& placement,
                Values& values, const front::LandingChoice& landing);

  /// Before each run. The program's thread's.
  void begin(Bytes largest_footprint);

  // ---- any thread's

  /// Of the value that comes and is to be in the datum of that number. `whole`: else it is put together of what comes, by a core.
  PlaceHint coming(const net::ValueName& name, std::uint32_t number, Bytes bytes, bool whole);
  PlaceHint going(net::OutgoingId id, Bytes bytes);
  /// It is there, or does not come; it has gone.
  void over(std::uint32_t number);
  void over(net::OutgoingId id);
  /// A task has changed that datum of a collection, on that node.
  void changed(std::uint32_t number, NodeId node) noexcept {
    if (number < lives_.size() && node != no_id<NodeId>)
      lives_[number].store(device_of_[index(node)], std::memory_order_relaxed);
  }

 private:
  /// The first task of this rank that gets a value.
  struct Reader {
    const TableClass* of = nullptr;
    std::uint32_t at = no_value;  ///< the datum where it runs
  };
  Reader first_reader(const net::ValueName& name) const;
  int only_device_for(const TableClass& of) const;
  int device_for(const net::ValueName& name) const;

  const engine::RuntimeCore& core_;
  const ClassTable& table_;
  Values& values_;
  const front::Landing landing_;
  const bool simulated_;
  std::vector<int> devices_;            // where values may land
  std::vector<std::int8_t> device_of_;  // by node
  const OwnSteps own_;
  std::vector<std::int8_t> advice_;  // of the data of collections. Fixed for a run
  /// Of the same: on which device a task of this graph has changed it last. Empty unless somebody asks.
  std::vector<std::atomic<std::int8_t>> lives_;
  std::mutex mutex_;         // guards what follows
  std::vector<Bytes> room_;  // for what comes, by device
  Bytes room_to_go_ = 0;     // on any
  struct Taken {
    int device = no_device;
    Bytes bytes = 0;
  };
  std::unordered_map<std::uint32_t, Taken> coming_;  // by number
  std::unordered_map<net::OutgoingId, Bytes> going_;
};

}  // namespace fairlead::ptg
