// See exchange.hpp.
#include "net/local/exchange.hpp"

#include <exception>
#include <string>

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

void LocalRank::begin(Listener& listener) {
  {
    const std::lock_guard guard(exchange_->mutex_);
    exchange_->there_[index(own_)] = this;
    const std::lock_guard inbox_guard(mutex_);
    for (Exchange::Packet& packet : exchange_->early_[own_]) inbox_.push_back(std::move(packet));
    exchange_->early_.erase(own_);
  }
  thread_ = guarded_thread(
      [this, &listener] {
        while (hear(listener)) {
        }
      },
      ignore_failure);
}

void LocalRank::poke() {
  const std::lock_guard guard(mutex_);
  inbox_.push_back(Exchange::Poke{});
  something_.notify_one();
}

void LocalRank::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(exchange_->mutex_);
    exchange_->there_[index(own_)] = nullptr;
    exchange_->gone_[index(own_)] = true;
    const std::lock_guard inbox_guard(mutex_);
    ending_ = true;
    something_.notify_one();
  }
  thread_.join();
}

bool LocalRank::hear(Listener& listener) {
  std::unique_lock lock(mutex_);
  something_.wait(lock, [this] { return ending_ || !inbox_.empty(); });
  if (ending_) return false;
  Exchange::Packet packet = std::move(inbox_.front());
  inbox_.pop_front();
  lock.unlock();
  try {
    handle(listener, std::move(packet));
  } catch (const std::exception& error) {  // no memory: what has come is lost, so this rank cannot go on
    listener.failed(error.what());
  }
  return true;
}

namespace {
/// Why it could not be; empty: it is there, or was to be in a device that is lost.
std::string bring(const void* from, const Commands::Expected& to) {
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
  if (const auto* const came = std::get_if<Exchange::Came>(&packet))
    return listener.came(came->from, came->bytes);
  if (const auto* const left = std::get_if<Exchange::Left>(&packet)) {
    {
      const std::lock_guard guard(mutex_);
      if (sending_.erase(left->id) == 0) return;  // dropped
    }
    return listener.left(left->id);
  }
  if (std::holds_alternative<Exchange::Poke>(packet)) return listener.poked();
  const auto& comes = std::get<Exchange::Comes>(packet);
  PayloadId expected{};
  std::string why_not;
  {
    const std::lock_guard landing_guard(landing_);
    Commands::Expected place;
    {
      const std::lock_guard guard(mutex_);
      const auto found = expected_.find({comes.from, comes.payload.tag});
      if (found == expected_.end()) return;  // dropped
      place = found->second;
      expected_.erase(found);
    }
    const std::lock_guard payload_guard(comes.state->mutex);
    if (comes.state->dropped) return;
    why_not = bring(comes.payload.from, place);
    expected = place.id;
  }
  if (!why_not.empty()) return listener.failed(why_not);
  exchange_->put(comes.from, Exchange::Left{comes.payload.id});
  listener.landed(expected);
}

void LocalRank::expect(const Commands::Expected& expected) {
  const std::lock_guard guard(mutex_);
  expected_[{expected.from, expected.tag}] = expected;
}

void LocalRank::send(Commands::Message message) {
  exchange_->put(message.to, Exchange::Came{own_, std::move(message.bytes)});
}

void LocalRank::send(const Commands::Payload& payload) {
  auto state = std::make_shared<Exchange::Payload>();
  {
    const std::lock_guard guard(mutex_);
    sending_[payload.id] = state;
  }
  exchange_->put(payload.to, Exchange::Comes{own_, payload, std::move(state)});
}

void LocalRank::drop(PayloadId payload) {
  std::shared_ptr<Exchange::Payload> sending;
  {
    const std::lock_guard landing_guard(landing_);  // nothing is written here now
    const std::lock_guard guard(mutex_);
    std::erase_if(expected_, [&](const auto& entry) { return entry.second.id == payload; });
    if (const auto found = sending_.find(payload); found != sending_.end()) {
      sending = found->second;
      sending_.erase(found);
    }
  }
  if (sending == nullptr) return;
  const std::lock_guard guard(sending->mutex);  // nobody reads it now
  sending->dropped = true;
}

}  // namespace fairlead::net
