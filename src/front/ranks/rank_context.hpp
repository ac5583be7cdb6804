// The components of a runtime that is one of several ranks.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "front/ranks/message_table.hpp"
#include "front/ranks/receive_placement.hpp"
#include "front/ranks/shared_program.hpp"
#include "front/ranks/transfer_statistics.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class RankContext final : public engine::RankState {
 public:
  RankContext(engine::RuntimeCore& core, std::shared_ptr<net::Network> network, const net::Protocol& protocol,
              ReceivePlacementChoice landing)
      : landing_(std::move(landing)),
        values_(core.world(), network->ranks(),
                core.engine().journal().records() ? core.engine().options().trace_memory / 8 : 0),
        communicator_(std::make_unique<net::Communicator>(std::move(network), protocol)),
        program_(core, *communicator_),
        messages_(core, *communicator_) {
    communicator_->watch_by(values_);
    communicator_->on_note([this](net::RankId from, std::span<const std::byte> note) {
      if (note.empty()) return;
      static_cast<std::uint8_t>(note.front()) < ProgramComparison::kinds_of_notes
          ? program_.comparison().on_note(from, note)
          : messages_.on_note(from, note);
    });
    communicator_->on_quiescent([&core] { core.world().wake(engine::WakeTarget::application()); });
  }
  net::Communicator& communicator() noexcept { return *communicator_; }
  SharedProgram& program() noexcept { return program_; }
  MessageTable& messages() noexcept { return messages_; }
  const TransferStatistics& values() const noexcept { return values_; }
  const ReceivePlacementChoice& landing() const noexcept { return landing_; }
  /// The program has ended: completes the common program and the exchange of messages.
  void leave() noexcept {
    program_.finish();
    messages_.leave();
  }
  /// Waits for the other ranks; this rank then takes no part in communication any more.
  void end() { communicator_.reset(); }

 private:
  const ReceivePlacementChoice landing_;
  TransferStatistics values_;  // must outlive the communicator, which uses it
  std::unique_ptr<net::Communicator> communicator_;
  SharedProgram program_;
  MessageTable messages_;
};

/// Null: the runtime is the only rank.
inline RankContext* rank_context(const engine::HostHooks& of) noexcept {
  return static_cast<RankContext*>(of.rank_state.get());
}

}  // namespace fairlead::front
