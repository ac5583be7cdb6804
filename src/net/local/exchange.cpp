// See exchange.hpp.
#include "net/local/exchange.hpp"

#include <exception>
#include <string>

#include <fmt/format.h>

#include "base/guarded_thread.hpp"

namespace fairlead::net {

void Exchange::put(RankId to, Packet packet) {
  const std::lock_guard guard(mutex_);
  LocalRank* const rank = there_[index(to)];
  if (gone_[index(to)]) return;
  if (rank == nullptr) {
    early_[to].push_back(std::move(packet));
    return;
  }
  const std::lock_guard inbox_guard(rank->mutex_);
  rank->inbox_.push_back(std::move(packet));
  rank->something_.notify_one();
}

/// Ranks that have not begun are notified when they begin.
void Exchange::break_off(RankId rank) noexcept {
  const std::lock_guard guard(mutex_);
  if (broken_ != no_rank) return;
  broken_ = rank;
  for (LocalRank* const other : there_) {
    if (other == nullptr || other->own_ == rank) continue;
    const std::lock_guard inbox_guard(other->mutex_);
    other->lost_ = rank;
    other->something_.notify_one();
  }
}

void LocalRank::begin(Listener& listener) {
  {
    const std::lock_guard guard(exchange_->mutex_);
    const std::lock_guard inbox_guard(mutex_);
    if (const auto early = exchange_->early_.find(own_); early != exchange_->early_.end()) {
      for (Exchange::Packet& packet : early->second) inbox_.push_back(std::move(packet));
      exchange_->early_.erase(early);
    }
    lost_ = exchange_->broken_;
    exchange_->there_[index(own_)] = this;
  }
  thread_ = guarded_thread(
      [this, &listener] {
        while (hear(listener)) {
        }
      },
      [&listener](const std::exception_ptr&) noexcept { listener.out_of_memory(); });
}

void LocalRank::poke() {
  const std::lock_guard guard(mutex_);
  poked_ = true;
  something_.notify_one();
}

void LocalRank::end() {
  {
    const std::lock_guard guard(exchange_->mutex_);
    exchange_->there_[index(own_)] = nullptr;
    exchange_->gone_[index(own_)] = true;
    const std::lock_guard inbox_guard(mutex_);
    ending_ = true;
    something_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

bool LocalRank::hear(Listener& listener) {
  std::unique_lock lock(mutex_);
  something_.wait(lock, [this] { return ending_ || poked_ || !inbox_.empty() || lost_ != no_rank; });
  if (ending_) return false;
  if (std::exchange(poked_, false)) {
    lock.unlock();
    listener.poked();
  } else if (!inbox_.empty()) {
    Exchange::Packet packet = std::move(inbox_.front());
    inbox_.pop_front();
    lock.unlock();
    handle(listener, std::move(packet));
  } else {
    const RankId lost = std::exchange(lost_, no_rank);
    lock.unlock();
    listener.lost(fmt::format("rank {} has no memory to go on", index(lost)));
  }
  return true;
}

namespace {
/// The error of the copy; empty: it succeeded, or its destination was on a lost device.
std::string copy_to(const void* from, const EndpointCommands::PostedReceive& to) {
  if (to.memory == nullptr) {
    to.layout.copy(from, to.place, to.bytes);
    return {};
  }
  try {
    static_cast<void>(to.memory->write(to.place, from, to.bytes));
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}
}  // namespace

void LocalRank::handle(Listener& listener, Exchange::Packet packet) {
  if (const auto* const came = std::get_if<Exchange::MessagePacket>(&packet))
    return listener.came(came->from, came->bytes);
  if (const auto* const left = std::get_if<Exchange::SentPacket>(&packet)) {
    {
      const std::lock_guard guard(mutex_);
      if (sending_.erase(left->id) == 0) return;  // dropped
    }
    return listener.left(left->id);
  }
  const auto& comes = std::get<Exchange::PayloadPacket>(packet);
  PayloadId expected{};
  std::string why_not;
  {
    const std::lock_guard receive_guard(receive_mutex_);
    EndpointCommands::PostedReceive place;
    {
      const std::lock_guard guard(mutex_);
      const auto found = expected_.find({comes.from, comes.payload.tag});
      if (found == expected_.end()) return;  // dropped
      place = found->second;
      expected_.erase(found);
    }
    const std::lock_guard payload_guard(comes.state->mutex);
    if (comes.state->dropped) return;
    why_not = copy_to(comes.payload.from, place);
    expected = place.id;
  }
  if (!why_not.empty()) return listener.failed(why_not);
  exchange_->put(comes.from, Exchange::SentPacket{comes.payload.id});
  listener.landed(expected);
}

void LocalRank::expect(const EndpointCommands::PostedReceive& expected) {
  const std::lock_guard guard(mutex_);
  expected_[{expected.from, expected.tag}] = expected;
}

void LocalRank::send(EndpointCommands::Message message) {
  exchange_->put(message.to, Exchange::MessagePacket{own_, std::move(message.bytes)});
}

void LocalRank::send(const EndpointCommands::Payload& payload) {
  auto state = std::make_shared<Exchange::Payload>();
  {
    const std::lock_guard guard(mutex_);
    sending_[payload.id] = state;
  }
  exchange_->put(payload.to, Exchange::PayloadPacket{own_, payload, std::move(state)});
}

void LocalRank::drop(PayloadId payload) {
  std::shared_ptr<Exchange::Payload> sending;
  {
    const std::lock_guard receive_guard(receive_mutex_);  // no write is in progress here
    const std::lock_guard guard(mutex_);
    std::erase_if(expected_, [&](const auto& entry) { return entry.second.id == payload; });
    if (const auto found = sending_.find(payload); found != sending_.end()) {
      sending = found->second;
      sending_.erase(found);
    }
  }
  if (sending == nullptr) return;
  const std::lock_guard guard(sending->mutex);  // no reader uses it now
  sending->dropped = true;
}

/// Afterwards this rank's memory may be freed: no other rank reads it, and no payload is written into it.
void LocalRank::abort_out_of_memory() noexcept {
  std::unordered_map<PayloadId, std::shared_ptr<Exchange::Payload>> sending;
  {
    const std::lock_guard receive_guard(receive_mutex_);
    const std::lock_guard guard(mutex_);
    expected_.clear();
    sending.swap(sending_);
  }
  for (const auto& entry : sending) {
    const std::lock_guard guard(entry.second->mutex);
    entry.second->dropped = true;
  }
  exchange_->break_off(own_);
}

}  // namespace fairlead::net
