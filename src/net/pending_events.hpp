// The queue of events to serve, and whether any may still be served.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "net/endpoint_commands.hpp"

namespace fairlead::net {

class Endpoint;

/// Not thread-safe: the owner's mutex guards it.
class PendingEvents {
 public:
  using Event = std::function<void(Endpoint&, EndpointCommands&)>;
  enum class Next : std::uint8_t {
    nothing,
    event,
    break_off,  // returned once, after break_off()
  };

  bool empty() const noexcept { return events_.empty(); }
  /// True if events are accepted: until break_off().
  bool is_open() const noexcept { return is_open_; }
  /// True after next() has returned break_off. The serving thread may call it without the mutex.
  bool has_broken_off() const noexcept { return has_broken_off_; }
  void add(Event event) { events_.push_back(std::move(event)); }
  /// An event that a thread waits for has a reserved slot, since memory may be missing. It follows the events queued
  /// now, and is served also after break_off(). One at a time. Does not allocate if `event` is a reference.
  void await(Event event) noexcept {
    awaited_ = std::move(event);
    before_awaited_ = events_.size();
  }
  /// Memory for an event or its effects was missing: drops all events, and accepts no more.
  void abandon() noexcept {
    if (!std::exchange(is_open_, false)) return;
    events_.clear();
    before_awaited_ = 0;
  }
  /// Takes the next event to serve.
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
  std::size_t before_awaited_ = 0;  // events ahead of it
  bool is_open_ = true, has_broken_off_ = false;
};

}  // namespace fairlead::net
