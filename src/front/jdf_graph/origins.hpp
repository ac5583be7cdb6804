// Finds the datum that contains each value of an unrolled graph. A flow that passes on or modifies a value keeps it in
// the datum where it came from.
#pragma once
#include <cstdint>
#include <vector>

#include "front/unrolled/edges.hpp"

namespace fairlead::jdf {

class Origins {
 public:
  /// `graph` must outlive this object.
  explicit Origins(const unrolled::TaskGraph& graph);

  /// Whether the task at the other end exists.
  bool exists(const unrolled::EdgeEnd& end) const {
    return tasks_.find(end.of, graph_.indices(end)) != unrolled::none;
  }

  struct Origin {
    const unrolled::EdgeEnd* place = nullptr;  ///< the datum in memory; null: a fresh datum, or none
    unrolled::Port first = 0;                  ///< the flow where the value starts
    bool fresh = false;                        ///< a fresh datum
  };
  const Origin& of(unrolled::TaskId task, std::uint16_t flow);
  const unrolled::Ports& ports() const noexcept { return ports_; }

 private:
  const unrolled::TaskGraph& graph_;
  const unrolled::Ports ports_;
  unrolled::TupleIndex tasks_;
  std::vector<const unrolled::EdgeEnd*> inputs_;  // by port
  std::vector<Origin> origins_;
  std::vector<bool> seen_;
};

}  // namespace fairlead::jdf
