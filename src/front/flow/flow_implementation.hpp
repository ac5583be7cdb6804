// The state of a public Flow: its task source and the runtime that it keeps alive.
#pragma once
#include <fairlead/flow.hpp>

#include <memory>
#include <utility>

#include "front/flow/flow_source.hpp"

namespace fairlead {

class Flow::Implementation {
 public:
  Implementation(std::shared_ptr<void> r, engine::RuntimeCore& c, front::Checkpointer* makes_checkpoints)
      : runtime(std::move(r)),
        core(c),
        checkpointer(makes_checkpoints),
        source(std::make_unique<front::FlowSource>(core)) {}
  std::shared_ptr<void> runtime;  // keeps the runtime alive as long as the flow
  engine::RuntimeCore& core;
  front::Checkpointer* const checkpointer;  // null: no checkpoints
  std::unique_ptr<front::FlowSource> source;
};

}  // namespace fairlead
