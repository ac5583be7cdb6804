// What the public Flow keeps.
#pragma once
#include <fairlead/flow.hpp>

#include <memory>
#include <utility>

#include "front/flow/flow_source.hpp"

namespace fairlead {

class Flow::Implementation {
 public:
  Implementation(std::shared_ptr<void> r, engine::RuntimeCore& c)
      : runtime(std::move(r)), core(c), source(std::make_unique<front::FlowSource>(core)) {}
  std::shared_ptr<void> runtime;  // there as long as the flow is
  engine::RuntimeCore& core;
  std::unique_ptr<front::FlowSource> source;
};

}  // namespace fairlead
