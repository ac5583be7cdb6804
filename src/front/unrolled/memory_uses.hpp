// Checks that the reads and writes of each datum in memory are ordered.
#pragma once
#include <vector>

#include "front/unrolled/values.hpp"

namespace fairlead::unrolled {

class MemoryUses {
 public:
  MemoryUses(const TaskGraph& graph, const Ports& ports, const Edges& edges, const Values& values,
             Findings& findings);

  /// The precedences between readers of a datum and the task that changes it: it waits for them, except for those
  /// that run later anyway and read what is written back. `order` has the precedences of flows and overwritten
  /// values. Reports values with two writers.
  std::vector<Precedence> overwriting_steps(PartialOrder& order);

  /// Reports data that are written twice, or read and written, without an order. `order` includes the precedences
  /// above.
  void check_races(PartialOrder& order);

 private:
  struct Reader {
    std::uint32_t place;
    bool changes;  ///< the task takes the value from memory and makes a new one
    Port port;
    bool later;  ///< it follows a task that changes the datum, and reads what was written back
  };

  template <class F>
  void each_place(F&& f);
  bool take_budget(std::size_t pairs);
  void writes(std::size_t begin, std::size_t end, PartialOrder& order);
  void reads(std::size_t begin, std::size_t end, const MemoryWrite& written, PartialOrder& order);
  void find_origins();
  std::string describe(Port port, const EdgeEnd& end) const;
  const EdgeEnd& input(Port port) const;
  std::uint32_t part(Port port) const;

  const TaskGraph& graph_;
  const Ports& ports_;
  const Edges& edges_;
  const Values& values_;
  Findings& findings_;
  std::vector<Reader> readers_;  // by place; those that change it come first
  // by port: the place that its value originates from, perhaps changed, or `none`
  std::vector<std::uint32_t> origins_;
  std::size_t pairs_left_ = 20'000'000;
};

}  // namespace fairlead::unrolled
