// What waits to be served, in order; and whether anything may still be served.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "net/commands.hpp"

namespace fairlead::net {

class Endpoint;

/// Passive: a mutex of the owner guards it.
class PendingEvents {
 public:
  using Event = std::function<void(Endpoint&, Commands&)>;
  enum class Next : std::uint8_t {
    nothing,
    event,
    break_off,  // once, after break_off()
  };

  bool empty() const noexcept { return events_.empty(); }
  /// Whether events count: not after break_off().
  bool is_open() const noexcept { return is_open_; }
  /// next() has said so. Also for the thread that serves, which need not hold the mutex for it.
  bool has_broken_off() const noexcept { return has_broken_off_; }
  void add(Event event) { events_.push_back(std::move(event)); }
  /// What a thread waits for has a place of its own, for there may be no memory: it comes after what is there now, also after
  /// break_off(). One at a time. Allocates nothing if `event` is a reference.
  void await(Event event) noexcept {
    awaited_ = std::move(event);
    before_awaited_ = events_.size();
  }
  /// There was no memory for an event or for its consequences: none counts any more.
  void break_off() noexcept {
    if (!std::exchange(is_open_, false)) return;
    events_.clear();
    before_awaited_ = 0;
  }
  Next next(Event& event) noexcept {
    if (!is_open_ && !std::exchange(has_broken_off_, true)) [[unlikely]]
      return Next::break_off;
    if (awaited_ && before_awaited_ == 0) {
      event = std::exchange(awaited_, nullptr);
      return Next::event;
    }
    if (events_.empty()) return Next::nothing;
    event = std::move(events_.front());
    events_.pop_front();
    if (before_awaited_ != 0) --before_awaited_;
    return Next::event;
  }

 private:
  std::deque<Event> events_;
  Event awaited_;
  std::size_t before_awaited_ = 0;  // so many of the events
  bool is_open_ = true, has_broken_off_ = false;
};

}  // namespace fairlead::net
