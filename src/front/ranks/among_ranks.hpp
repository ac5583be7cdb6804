// What a runtime has that is one of several ranks.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "front/ranks/common_program.hpp"
#include "front/ranks/landing.hpp"
#include "front/ranks/message_book.hpp"
#include "front/ranks/watched_values.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class AmongRanks {
 public:
  AmongRanks(engine::RuntimeCore& core, std::shared_ptr<net::Network> network, const net::Protocol& protocol,
             LandingChoice landing)
      : landing_(std::move(landing)),
        values_(core.world(), network->ranks(),
                core.engine().journal().records() ? core.engine().options().trace_memory / 8 : 0),
        communicator_(std::make_unique<net::Communicator>(std::move(network), protocol)),
        program_(core, *communicator_),
        messages_(core, *communicator_) {
    communicator_->watch_by(values_);
    communicator_->hear([this](net::RankId from, std::span<const std::byte> note) {
      if (note.empty()) return;
      static_cast<std::uint8_t>(note.front()) < Comparison::kinds_of_notes
          ? program_.comparison().heard(from, note)
          : messages_.heard(from, note);
    });
    communicator_->on_quiet([&core] { core.world().wake(engine::Who::application()); });
  }
  net::Communicator& communicator() noexcept { return *communicator_; }
  CommonProgram& program() noexcept { return program_; }
  MessageBook& messages() noexcept { return messages_; }
  const WatchedValues& values() const noexcept { return values_; }
  const LandingChoice& landing() const noexcept { return landing_; }
  /// The program has come to its end: what all ranks do together is over, and what they say to each other.
  void leave() noexcept {
    program_.leave();
    messages_.leave();
  }
  /// Waits for the other ranks: afterwards this one is none of them.
  void end() { communicator_.reset(); }

 private:
  const LandingChoice landing_;
  WatchedValues values_;  // as long as who watches by it
  std::unique_ptr<net::Communicator> communicator_;
  CommonProgram program_;
  MessageBook messages_;
};

/// Null: the runtime computes alone.
inline AmongRanks* among_ranks(const engine::Surroundings& of) noexcept {
  return static_cast<AmongRanks*>(of.among_ranks.get());
}

}  // namespace fairlead::front
