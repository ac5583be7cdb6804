// What is played: unfinished tasks, the data that they use, and how long they are expected to take, as all of that stood
// when the rehearsal began. The run goes on and changes; this does not.
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

class Script {
 public:
  /// The tasks in the order of the program. Throws std::bad_alloc.
  Script(const memory::Memory& memory, const View& view, std::span<Task* const> tasks);
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  struct Use {
    std::uint32_t datum = 0;  ///< place in data()
    AccessMode mode = AccessMode::read;
  };
  struct Line {
    const CodeletInfo* codelet = nullptr;
    std::uint32_t first_use = 0;
    std::uint16_t uses = 0;
    std::int8_t device = no_device;
    NodeId given_to = no_id<NodeId>;  ///< to one of its workers
    NodeId only = no_id<NodeId>;      ///< where it may run, if that is on one node
    std::int32_t priority = 0;
    float work = 0;
    Duration least{};  ///< where it is fastest
  };
  struct Data {
    Bytes bytes = 0;
    NodeId home{};
    View::Coordinates coordinates;
    int advice = no_device;
    std::uint32_t nodes = 0;  ///< bit k: its newest version is on node k
    bool changed = false;     ///< and not at home
  };
  const Topology& topology() const noexcept { return topology_; }
  /// As far as is known: then nothing goes home before it has to.
  bool more_follow() const noexcept { return more_follow_; }
  std::span<const Line> lines() const noexcept { return lines_; }
  std::span<const Data> data() const noexcept { return data_; }
  std::span<const Use> uses_of(const Line& line) const noexcept {
    return std::span(uses_).subspan(line.first_use, line.uses);
  }
  Duration estimate(std::size_t line, WorkerId worker) const noexcept {
    return estimates_[line * classes_ + class_of_worker_[index(worker)]];
  }

 private:
  const Topology topology_;
  const bool more_follow_;
  std::vector<std::uint32_t> class_of_worker_;  // those of a kind on one node are alike
  std::size_t classes_ = 0;
  // For the kinds of worker that may run the task, without their bodies: implementations are not chosen among here.
  std::deque<CodeletInfo> codelets_;
  std::vector<Line> lines_;
  std::vector<Use> uses_;
  std::vector<Data> data_;
  std::vector<Duration> estimates_;  // by line and class
};

}  // namespace fairlead::front
