// The interface for transports between ranks. A transport may be slow and may reorder messages; it loses none. Some
// transports deliver events by their own threads; others must be driven by idle threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "net/endpoint_commands.hpp"

namespace fairlead::net {

class DirectReads;

class Network {
 public:
  /// Receives the network's events, on any thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void came(RankId from, std::span<const std::byte> message) = 0;
    virtual void landed(PayloadId expected) = 0;
    virtual void left(PayloadId sent) = 0;
    /// A payload could not be written to its place: this rank cannot continue.
    virtual void failed(const std::string&) {}
    /// No more transfers: a rank is lost or the network has failed, as the text states. Once.
    virtual void lost(const std::string& why) = 0;
    /// Memory to report an event is missing: this rank cannot continue. Must not allocate or block.
    virtual void out_of_memory() noexcept = 0;
    /// poll() found no event.
    virtual void nothing_received() {}
    /// poke() was called.
    virtual void poked() = 0;
  };
  /// How a rank shares its machine with others.
  struct Sharing {
    std::uint32_t ranks = 1;          ///< ranks on the machine, which share its memory
    std::uint32_t of_processors = 1;  ///< those of them that may run on the same processors
    std::uint32_t place = 0;          ///< this rank's index among of_processors
    std::uint32_t place_on_machine = 0;
  };
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual RankId own() const noexcept = 0;
  virtual std::uint32_t ranks() const noexcept = 0;
  virtual Sharing sharing() const noexcept { return {}; }
  /// True if the other ranks are threads of this process.
  virtual bool in_process() const noexcept { return false; }
  /// Sets the direct reads between ranks of this machine; null: none. Before begin().
  void set_direct_reads(std::shared_ptr<const DirectReads> direct_reads) noexcept {
    direct_reads_ = std::move(direct_reads);
  }
  const DirectReads* direct_reads() const noexcept { return direct_reads_.get(); }
  /// For messages: "Open MPI 4.1.4, called by any thread".
  virtual std::string description() const = 0;
  /// Why payloads cannot be received directly into memory of a CUDA device; empty: they can.
  virtual std::string why_not_into_devices() const = 0;
  /// Starts the delivery of events.
  virtual void begin(Listener& listener) = 0;
  /// Lets a thread of the network, or one that drives it, call poked() soon. Any thread; does not block or allocate.
  virtual void poke() = 0;
  /// True if events are delivered only by poll(), which must be called while is_active() is true.
  virtual bool needs_polling() const noexcept { return false; }
  /// True if only the thread that called begin() may drive it: the program's thread.
  virtual bool driven_by_one_thread() const noexcept { return false; }
  /// Delivers events and makes progress. False if there was nothing to do, if another thread is driving, or if only
  /// another thread may. Any thread; throws SystemError.
  virtual bool poll() { return false; }
  /// True if poke() was called and this thread may call say().
  virtual bool has_poke() const noexcept { return false; }
  /// Delivers poked() if poke() was called, but no other event. Any thread.
  virtual bool deliver_poke() { return false; }
  /// Sets whether events of interest may come.
  void set_active(bool listens) {
    listens_.store(listens);
    if (listens && on_listening_) on_listening_();
  }
  bool is_active() const noexcept { return listens_.load(std::memory_order_relaxed); }
  /// Sets the function that wakes the thread for driving, if one exists. Before begin() or after end(); empty: none.
  void on_listening(std::function<void()> callback) { on_listening_ = std::move(callback); }
  bool has_own_driver() const noexcept { return on_listening_ != nullptr; }
  /// Claims the network. False if it is claimed already.
  bool claim() noexcept { return !taken_.exchange(true); }
  bool is_claimed() const noexcept { return taken_.load(); }
  /// Called by a thread that is about to wait until done(). Drives a network that no other thread drives.
  virtual void help(const std::function<bool()>& done) {
    while (needs_polling() && !done())
      if (!poll()) std::this_thread::yield();
  }
  /// Stops the delivery of events and all sends. Messages sent before still arrive.
  virtual void end() = 0;
  /// A rank is lost: transfers stop, and lost() follows soon. Any thread; does not block.
  virtual void lose(const std::string&) {}
  /// This rank is out of memory: transfers stop, and the other ranks are notified. Any thread; does not allocate.
  virtual void abort_out_of_memory() noexcept = 0;
  /// Sets the function that is called when this rank cannot continue on its own; `why` states the reason, and the
  /// function must notify the other ranks by other means. The listener gets lost() as well, unless the network has
  /// ended. Before begin(); must not block.
  void on_broken(std::function<void(const std::string& why)> callback) { on_broken_ = std::move(callback); }
  /// True between begin() and end().
  virtual bool is_open() const noexcept { return false; }

  // ---- sends, for each rank in the order of the calls

  /// Posts a receive. landed() follows, unless it is dropped.
  virtual void expect(const EndpointCommands::PostedReceive& expected) = 0;
  /// Sends a message.
  virtual void send(EndpointCommands::Message message) = 0;
  /// Sends a payload. Its bytes must not change before left() or drop().
  virtual void send(const EndpointCommands::Payload& payload) = 0;
  /// Afterwards the payload's bytes are neither read nor written.
  virtual void drop(PayloadId payload) = 0;

 protected:
  void report_broken(const std::string& why) const {
    if (on_broken_) on_broken_(why);
  }

 private:
  std::atomic<bool> listens_{false}, taken_{false};
  std::function<void()> on_listening_;
  std::function<void(const std::string&)> on_broken_;
  std::shared_ptr<const DirectReads> direct_reads_;
};

}  // namespace fairlead::net
