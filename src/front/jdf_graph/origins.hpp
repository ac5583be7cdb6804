// Where the values of a graph that is written out are: a flow that passes a value on, or changes it, has it where it came
// from.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/edges.hpp"

namespace fairlead::jdf {

class Origins {
 public:
  /// Must outlive it.
  explicit Origins(const unrolled::Graph& graph);

  /// Whether the task at the other end is there.
  bool exists(const unrolled::End& end) const {
    return tasks_.find(end.of, graph_.indices(end)) != unrolled::none;
  }

  struct Origin {
    const unrolled::End* place = nullptr;  ///< in memory; null: in a datum of its own, or nowhere
    unrolled::Port first = 0;              ///< the flow that has it first
    bool fresh = false;                    ///< in a datum of its own
  };
  const Origin& of(unrolled::TaskId task, std::uint16_t flow);
  const unrolled::Ports& ports() const noexcept { return ports_; }

 private:
  const unrolled::Graph& graph_;
  const unrolled::Ports ports_;
  unrolled::NumberIndex tasks_;
  std::vector<const unrolled::End*> inputs_;  // by port
  std::vector<Origin> origins_;
  std::vector<bool> seen_;
};

}  // namespace fairlead::jdf
