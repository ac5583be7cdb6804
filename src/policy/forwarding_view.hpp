// A view that forwards every query to another view. A policy that contains another policy derives from it and overrides
// the queries that it answers differently.
#pragma once
#include <vector>

#include "policy/view.hpp"

namespace fairlead {

class ForwardingView : public View {
 public:
  explicit ForwardingView(View& outer) : outer_(outer) {}

  std::span<const WorkerInfo> workers() const override { return outer_.workers(); }
  std::span<const NodeInfo> nodes() const override { return outer_.nodes(); }
  Time now() const override { return outer_.now(); }
  Random& random() override { return outer_.random(); }
  std::uint32_t distance(WorkerId a, WorkerId b) const override { return outer_.distance(a, b); }
  bool can_run(const Task& task, WorkerId worker) const override { return outer_.can_run(task, worker); }
  Duration estimate(const Task& task, WorkerId worker) const override {
    return outer_.estimate(task, worker);
  }
  bool is_estimate_reliable(const Task& task, WorkerId worker) const override {
    return outer_.is_estimate_reliable(task, worker);
  }
  Bytes bytes(DatumId datum) const override { return outer_.bytes(datum); }
  ReplicaState residency(DatumId datum, NodeId node) const override { return outer_.residency(datum, node); }
  bool has_newest(DatumId datum, NodeId node) const override { return outer_.has_newest(datum, node); }
  Duration transfer_time(DatumId datum, NodeId node) const override {
    return outer_.transfer_time(datum, node);
  }
  Duration transfer_time(Bytes bytes, NodeId from, NodeId to) const override {
    return outer_.transfer_time(bytes, from, to);
  }
  Duration transfer_time_to_all(Bytes bytes, std::span<const NodeId> to) const override {
    return outer_.transfer_time_to_all(bytes, to);
  }
  void pipeline(NodeId node, std::vector<const Task*>& out) const override { outer_.pipeline(node, out); }
  Coordinates coordinates(DatumId datum) const override { return outer_.coordinates(datum); }
  Extent extent(std::int32_t collection) const override { return outer_.extent(collection); }
  int advice(DatumId datum) const override { return outer_.advice(datum); }
  WhatIfSimulation* what_if_simulation() const override { return outer_.what_if_simulation(); }

 private:
  View& outer_;
};

}  // namespace fairlead
