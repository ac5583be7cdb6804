// Moves bytes at the speed of the emulated link.
#include "backend/emulated/emulated_link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::backend {

EmulatedLink::EmulatedLink(Settings settings, World world)
    : Chore(Kind::transfer),
      settings_(settings),
      world_(std::move(world)),
      ways_{Way(settings.bytes_per_second), Way(settings.bytes_per_second)} {
  if (settings_.played_by == PlayedBy::worker) return;
  ways_[0].thread = guarded_thread([this] { run(ways_[0]); }, ignore_failure);
  if (!settings_.duplex) return;
  try {
    ways_[1].thread = guarded_thread([this] { run(ways_[1]); }, ignore_failure);
  } catch (...) {
    stop();  // joins the first thread
    throw;
  }
}

std::size_t EmulatedLink::threads() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(ways_, [](const Way& way) { return way.thread.joinable(); }));
}

void EmulatedLink::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Way& way : ways_) way.queue.clear();
    set_waiting(0);
  }
  changed_.notify_all();
  for (Way& way : ways_)
    if (way.thread.joinable()) way.thread.join();
}

void EmulatedLink::start(const Transfer& load) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    Way& way = way_of(load);
    way.queue.push_back({load, world_.clock()});
    if (settings_.played_by == PlayedBy::worker) set_waiting(way.queue.size());
  }
  if (settings_.played_by == PlayedBy::own_threads) {
    changed_.notify_all();  // the other direction's thread waits on it, too
  } else {
    world_.wake();
  }
}

void EmulatedLink::skip_throttling() noexcept {
  {
    const std::lock_guard lock(mutex_);
    for (Way& way : ways_) way.cap = BandwidthCap(0);
  }
  changed_.notify_all();
}

void EmulatedLink::run_next(Way& way) noexcept {
  Move move;
  TransferResult made;
  {
    std::unique_lock lock(mutex_);
    if (way.queue.empty()) return;
    move = way.queue.front();
    way.queue.pop_front();
    if (settings_.played_by == PlayedBy::worker) set_waiting(way.queue.size());
    const Time end = way.cap.book_from(move.load.bytes, move.started).end +
                     (way.cap.active() ? settings_.latency : Duration{});
    lock.unlock();
    try {
      copy_bytes(move.load);
    } catch (...) {  // from the program's own pack functions
      made = {.error_number = EIO, .failure = std::current_exception()};
    }
    lock.lock();
    // Waits for the time that the emulated hardware would take beyond the memcpy.
    while (!ending_ && way.cap.active() && world_.clock() < end)
      changed_.wait_for(lock, end - world_.clock());
    if (ending_) return;
  }
  move.load.receiver->completed(move.load.token,
                                made.succeeded() && world_.outcome ? world_.outcome() : made);
}

void EmulatedLink::copy_bytes(const Transfer& load) const {
  // emulated memory is RAM, so cores can access it
  std::byte *const from = load.from.address, *const to = load.to.address;
  if (load.layout == nullptr) {
    std::memcpy(to, from, load.bytes);
  } else if (load.away_from_home) {
    load.layout->pack(from, to);
  } else {
    load.layout->unpack(from, to);
  }
}

void EmulatedLink::run(Way& way) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !way.queue.empty(); });
      if (ending_) return;
    }
    run_next(way);
  }
}

}  // namespace fairlead::backend
