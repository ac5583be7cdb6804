// Implements the public messages on MessageTable.
#include <fairlead/messages.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <utility>

#include "front/ranks/rank_context.hpp"
#include "front/runtime/runtime_access.hpp"

namespace fairlead {

/// Does not keep the runtime alive: a message may outlive it.
struct Message::State {
  std::weak_ptr<front::RankContext> ranks;
  std::shared_ptr<front::MessageState> message;
};

bool Message::test() const noexcept { return state_ != nullptr && state_->message->complete.load(); }

void Message::wait() const {
  if (state_ == nullptr) throw UsageError("wait() for a message that was never started");
  if (test()) return;
  const auto ranks = state_->ranks.lock();
  if (ranks == nullptr) throw UsageError("wait() for a message whose runtime was destroyed");
  ranks->messages().wait(*state_->message);
}

Message begin_message(Runtime& runtime, const detail::DatumReference& reference, bool sends,
                      std::uint32_t peer, std::uint32_t tag, SourceLine where, std::function<void()> done,
                      bool awaited) {
  engine::RuntimeCore& core = front::core_of(runtime);
  core.caller().check(sends ? "send" : "receive");
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("a message {}\n  started at {}:{}", why, where.file_name(), where.line()));
  };
  if (front::rank_context(core.surroundings()) == nullptr)
    refuse("is for several ranks, and this runtime is none");
  if (reference.datum == nullptr || reference.datum->generation != reference.generation)
    refuse("was given a handle that is empty, or of a datum that no longer exists");
  if (reference.datum->runtime != &core) refuse("was given a datum that belongs to another runtime");
  const auto ranks = std::static_pointer_cast<front::RankContext>(core.surroundings().rank_state);
  std::shared_ptr<front::MessageState> state;
  if (awaited || done != nullptr) {
    state = std::make_shared<front::MessageState>();
    state->done = std::move(done);
  }
  ranks->messages().begin(*reference.datum, sends, net::RankId{peer}, tag, state);
  Message message;
  if (!awaited) return message;
  message.state_ = std::make_shared<Message::State>();
  message.state_->ranks = ranks;
  message.state_->message = std::move(state);
  return message;
}

}  // namespace fairlead
