// The input of what-if simulations: unfinished tasks, their data and their estimated durations, as of the start of the
// simulation. The run continues and changes; the script does not.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "data/task.hpp"
#include "machine/topology.hpp"
#include "memory/memory.hpp"
#include "policy/view.hpp"

namespace fairlead::front {

class SimulationInput {
 public:
  /// `tasks`: in program order. Throws std::bad_alloc.
  SimulationInput(const memory::Memory& memory, const View& view, std::span<Task* const> tasks);
  SimulationInput(const SimulationInput&) = delete;
  SimulationInput& operator=(const SimulationInput&) = delete;

  struct Use {
    std::uint32_t datum = 0;  ///< index in data()
    AccessMode mode = AccessMode::read;
  };
  struct SimulatedTaskRecord {
    const CodeletInfo* codelet = nullptr;
    std::uint32_t first_use = 0;
    std::uint16_t uses = 0;
    std::int8_t device = no_device;
    NodeId assigned_node = no_id<NodeId>;  ///< assigned to a worker of this node
    NodeId required_node = no_id<NodeId>;  ///< the only node where it may run, if there is just one
    std::int32_t priority = 0;
    float work = 0;
    Duration shortest_duration{};  ///< duration where it is fastest
  };
  struct SimulatedDatumRecord {
    Bytes bytes = 0;
    NodeId home{};
    View::Coordinates coordinates;
    int advice = no_device;
    std::uint32_t valid_nodes = 0;  ///< bit k: node k has the newest version
    bool modified = false;          ///< the newest version is not at home
  };
  const Topology& topology() const noexcept { return topology_; }
  /// Whether more tasks follow, as far as known: then nothing is written back earlier than necessary.
  bool more_follow() const noexcept { return more_follow_; }
  std::span<const SimulatedTaskRecord> tasks() const noexcept { return lines_; }
  std::span<const SimulatedDatumRecord> data() const noexcept { return data_; }
  std::span<const Use> uses_of(const SimulatedTaskRecord& line) const noexcept {
    return std::span(uses_).subspan(line.first_use, line.uses);
  }
  Duration estimate(std::size_t line, WorkerId worker) const noexcept {
    return estimates_[line * classes_ + class_of_worker_[index(worker)]];
  }

 private:
  const Topology topology_;
  const bool more_follow_;
  std::vector<std::uint32_t> class_of_worker_;  // workers of one kind on one node form a class
  std::size_t classes_ = 0;
  // One per codelet and set of worker kinds, without bodies: simulations do not choose among implementations.
  std::deque<CodeletInfo> codelets_;
  std::vector<SimulatedTaskRecord> lines_;
  std::vector<Use> uses_;
  std::vector<SimulatedDatumRecord> data_;
  std::vector<Duration> estimates_;  // by line and class
};

}  // namespace fairlead::front
