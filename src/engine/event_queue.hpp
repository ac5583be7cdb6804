// The engine's single entrance. Threads leave events in an inbox; the thread that gets the lock serves the events of
// all threads. A thread that does not get the lock leaves at once. Only registration and reports wait for the lock, for
// microseconds.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

#include "engine/deliveries.hpp"
#include "engine/inbox.hpp"
#include "engine/world.hpp"

namespace fairlead::engine {

/// Called by the thread that holds the lock. The functions do not throw.
class Server {
 public:
  /// Serves events in this order, linked by `next`.
  virtual void serve(Event* events, Commands& out) noexcept = 0;
  /// All events posted together have been served; gives tasks to workers.
  virtual void follow(Commands& out) noexcept = 0;
  /// An error outside the engine has made its state inconsistent.
  virtual void fail(std::exception_ptr why, Commands& out) noexcept = 0;

 protected:
  ~Server() = default;
};

class EventQueue {
 public:
  EventQueue(Server& server, World& world, PendingDeliveries& deliveries, std::size_t reporters)
      : server_(server), world_(world), deliveries_(deliveries), applied_(reporters) {}

  /// Posts events. They are served by the next thread that takes the lock.
  void post(EventChain& events) noexcept { inbox_.push(events); }
  /// Posts one event that only the caller uses: sets its kind, worker and time.
  void post(Event& event, EventKind kind, WorkerId worker, Time at) noexcept {
    event.kind = kind;
    event.worker = worker;
    event.at = at;
    EventChain events;
    events.append(event);
    post(events);
  }
  bool something_posted() const noexcept { return !inbox_.empty(); }
  /// Posts the events, and serves the inbox unless another thread does.
  void enter(EventChain& events, Commands& out) noexcept;
  /// As enter(), but waits for the lock: on return the events have been served.
  void enter_blocking(EventChain& events, Commands& out) noexcept;
  /// Reports finished tasks; calls release(), which appends the tasks that became ready to `ready`; then reports those.
  /// If the lock is free, everything happens under one acquisition of it, without the inbox. release() must be short.
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
    serve_inbox(out);  // this thread's earlier posts come first
    server_.serve(finished.take_in_order(), out);
    try {
      release();
    } catch (...) {
      server_.fail(std::current_exception(), out);  // waiting threads must be woken, and the lock released
    }
    // Another thread that finished a predecessor of these ready tasks may have left its event in the inbox. Those
    // events come first.
    serve_inbox(out);
    server_.serve(ready.take_in_order(), out);
    server_.follow(out);
    lock_.unlock();
    enter(ready, out);
  }

  /// The number of the reporter's finished tasks that the engine no longer uses.
  std::uint64_t applied(std::uint16_t reporter) const noexcept {
    return applied_[reporter].count.load(std::memory_order_acquire);
  }
  /// Counts one more such task. Under the lock.
  void count_applied(std::uint16_t reporter) noexcept {
    // release: the reporter, which acquires, may reuse the descriptor now. One writer, so no read-modify-write.
    auto& count = applied_[reporter].count;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Holds the lock without serving. Threads that post in the meantime fail to get the lock and leave. So if the inbox
  /// is not empty afterwards, a worker must be woken to serve it.
  class Guard {
   public:
    explicit Guard(const EventQueue& entrance) : entrance_(entrance) { entrance_.lock_.lock(); }
    ~Guard() {
      entrance_.lock_.unlock();
      if (entrance_.something_posted()) entrance_.world_.wake(WakeTarget::any_worker());
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    const EventQueue& entrance_;
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
  PendingDeliveries& deliveries_;
  mutable EngineLock lock_;
  Inbox inbox_;
  std::vector<Applied> applied_;  // by reporter
};

inline void EventQueue::enter(EventChain& events, Commands& out) noexcept {
  inbox_.push(events);
  // A thread that leaves without the lock has pushed its events before the holder's last check of the inbox.
  while (!inbox_.empty() && lock_.try_lock()) {
    serve_all(out);
    lock_.unlock();
  }
}

inline void EventQueue::enter_blocking(EventChain& events, Commands& out) noexcept {
  inbox_.push(events);
  lock_.lock();
  serve_all(out);
  lock_.unlock();
  enter(events, out);
}

}  // namespace fairlead::engine
