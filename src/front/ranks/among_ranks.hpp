// What a runtime has that is one of several ranks.
#pragma once
#include <functional>
#include <memory>

#include "front/ranks/common_program.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class AmongRanks {
 public:
  AmongRanks(engine::RuntimeCore& core, std::shared_ptr<net::Network> network, const net::Protocol& protocol)
      : communicator_(std::make_unique<net::Communicator>(std::move(network), protocol)),
        program_(core, *communicator_) {
    communicator_->on_quiet([&core] { core.world().wake(engine::Who::application()); });
  }
  net::Communicator& communicator() noexcept { return *communicator_; }
  CommonProgram& program() noexcept { return program_; }
  /// Waits for the other ranks: afterwards this one is none of them.
  void end() { communicator_.reset(); }

 private:
  std::unique_ptr<net::Communicator> communicator_;
  CommonProgram program_;
};

}  // namespace fairlead::front
