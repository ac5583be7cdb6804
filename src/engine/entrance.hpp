// The one way into the engine: events are left in an inbox, and whoever gets the lock serves everybody's. Who
// does not get it leaves at once; only registration and reports wait for it, for microseconds.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#include "engine/deliveries.hpp"
#include "engine/inbox.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

/// Whoever has the lock calls these. They throw nothing.
class Server {
 public:
  /// Events in the order in which they are to be served, linked by `next`.
  virtual void serve(Event* events, Commands& out) noexcept = 0;
  /// All that was told together has been served: now workers are given tasks.
  virtual void follow(Commands& out) noexcept = 0;
  /// Something went wrong outside, after which what is known is no longer consistent.
  virtual void fail(std::exception_ptr why, Commands& out) noexcept = 0;

 protected:
  ~Server() = default;
};

class Entrance {
 public:
  Entrance(Server& server, World& world, Deliveries& deliveries, std::size_t reporters)
      : server_(server), world_(world), deliveries_(deliveries), applied_(reporters) {}

  /// Tells what happened. Whoever gets the lock serves all that was told; the others leave at once.
  void post(EventChain& events) noexcept { inbox_.push(events); }
  /// The same for one event that is nobody else's: says what happened, where and when.
  void post(Event& event, EventKind kind, WorkerId worker, Time at) noexcept {
    event.kind = kind;
    event.worker = worker;
    event.at = at;
    EventChain events;
    events.append(event);
    post(events);
  }
  bool something_posted() const noexcept { return !inbox_.empty(); }
  /// Tells of the events, and serves unless somebody else does.
  void enter(EventChain& events, Commands& out) noexcept;
  /// As enter(), but waits for the lock: afterwards the events have been served.
  void enter_surely(EventChain& events, Commands& out) noexcept;
  /// Tells of finished tasks, then calls release(), which appends to `ready` what became ready by them, then
  /// tells that. If the lock is free all of it happens under one hold of it, without the inbox; release()
  /// must be short.
  template <class Release>
  void finish(EventChain& finished, EventChain& ready, Release&& release, Commands& out) {
    if (!lock_.try_lock()) {
      deliveries_.begin();
      post(finished);
      release();  // if it throws, the caller stops the run
      enter(ready, out);
      out.quiet |= deliveries_.end(1);
      return;
    }
    serve_inbox(out);  // what this thread has posted before comes first
    server_.serve(finished.take_in_order(), out);
    try {
      release();
    } catch (...) {
      server_.fail(std::current_exception(), out);  // who waits has to look; and the lock is let go
    }
    // Whoever told of another input of what is ready now may have left that in the inbox: it comes first.
    serve_inbox(out);
    server_.serve(ready.take_in_order(), out);
    server_.follow(out);
    lock_.unlock();
    enter(ready, out);
  }

  /// How many of its finished tasks the reporter may forget.
  std::uint64_t applied(std::uint16_t reporter) const noexcept {
    return applied_[reporter].count.load(std::memory_order_acquire);
  }
  /// One more of them. Under the lock.
  void count_applied(std::uint16_t reporter) noexcept {
    // release: the reporter, who acquires, may reuse the descriptor now. One writer, so no read-modify-write.
    auto& count = applied_[reporter].count;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Has the lock, and serves nobody. Who has posted meanwhile has left when he did not get it; if nobody
  /// else looks into the inbox, somebody has to be woken.
  class Guard {
   public:
    explicit Guard(const Entrance& entrance) : entrance_(entrance) { entrance_.lock_.lock(); }
    ~Guard() {
      entrance_.lock_.unlock();
      if (entrance_.something_posted()) entrance_.world_.wake(Who::any_worker());
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    const Entrance& entrance_;
  };

 private:
  struct alignas(64) Applied {
    std::atomic<std::uint64_t> count{0};
  };
  void serve_inbox(Commands& out) noexcept { server_.serve(inbox_.drain(), out); }
  void serve_all(Commands& out) noexcept {
    serve_inbox(out);
    server_.follow(out);
  }

  Server& server_;
  World& world_;
  Deliveries& deliveries_;
  mutable EngineLock lock_;
  Inbox inbox_;
  std::vector<Applied> applied_;  // by reporter
};

inline void Entrance::enter(EventChain& events, Commands& out) noexcept {
  inbox_.push(events);
  // Whoever leaves without the lock has pushed before the holder's last look at the inbox.
  while (!inbox_.empty() && lock_.try_lock()) {
    serve_all(out);
    lock_.unlock();
  }
}

inline void Entrance::enter_surely(EventChain& events, Commands& out) noexcept {
  inbox_.push(events);
  lock_.lock();
  serve_all(out);
  lock_.unlock();
  enter(events, out);
}

}  // namespace fairlead::engine
