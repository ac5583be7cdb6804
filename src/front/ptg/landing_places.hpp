// Where the values of a graph land that come from other ranks, if not in the host's memory: the device is chosen when a
// rank hears of the value, before it asks for it. What goes to others goes from the device that has it. Together they
// take at most what the largest task leaves of each device; all else goes by the host (rule 10 of docs/memory.md).
#pragma once
#include <fairlead/place_hint.hpp>

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
                Values& values, front::Landing landing);

  /// Before each run. The program's thread's.
  void begin(Bytes largest_footprint);

  // ---- any thread's

  /// Of the value that comes and is to be in the datum of that number.
  PlaceHint coming(const net::ValueName& name, std::uint32_t number, Bytes bytes);
  PlaceHint going(net::OutgoingId id, Bytes bytes);
  /// It is there, or does not come; it has gone.
  void over(std::uint32_t number);
  void over(net::OutgoingId id);

 private:
  int device_for(const net::ValueName& name) const;
  int advised_device(const net::ValueName& name) const;

  const engine::RuntimeCore& core_;
  const ClassTable& table_;
  Values& values_;
  const front::Landing landing_;
  const int devices_;
  const OwnSteps own_;
  std::vector<std::int8_t> advice_;  // of the data of collections. Fixed for a run
  std::mutex mutex_;                 // guards what follows
  std::vector<Bytes> room_;          // for what comes, by device
  Bytes room_to_go_ = 0;             // on any
  struct Taken {
    int device = no_device;
    Bytes bytes = 0;
  };
  std::unordered_map<std::uint32_t, Taken> coming_;  // by number
  std::unordered_map<net::OutgoingId, Bytes> going_;
};

}  // namespace fairlead::ptg
