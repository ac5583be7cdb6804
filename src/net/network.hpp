// What carries the bytes between ranks. It may be slow, and messages may overtake each other; it loses nothing. Some
// hear by threads of their own what comes; others have to be driven by whoever has nothing better to do.
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

#include "net/commands.hpp"

namespace fairlead::net {

class Neighbours;

class Network {
 public:
  /// Who hears what the network says, on any thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void came(RankId from, std::span<const std::byte> message) = 0;
    virtual void landed(PayloadId expected) = 0;
    virtual void left(PayloadId sent) = 0;
    /// A payload could not be brought to its place: this rank cannot go on.
    virtual void failed(const std::string&) {}
    /// Nothing comes or goes any more: a rank is lost or the network fails, as the text says. Once.
    virtual void lost(const std::string& why) = 0;
    /// There is no memory to report what has come or gone: this rank cannot go on. Allocates nothing, and waits for nothing.
    virtual void out_of_memory() noexcept = 0;
    /// It was driven, and there was nothing.
    virtual void nothing_came() {}
    /// Somebody has called poke().
    virtual void poked() = 0;
  };
  /// With how many others a rank shares its machine.
  struct Sharing {
    std::uint32_t ranks = 1;          ///< on the machine, which share its memory
    std::uint32_t of_processors = 1;  ///< of these, those that may run on the same processors
    std::uint32_t place = 0;          ///< this one's among the latter
    std::uint32_t place_on_machine = 0;
  };
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual RankId own() const noexcept = 0;
  virtual std::uint32_t ranks() const noexcept = 0;
  virtual Sharing sharing() const noexcept { return {}; }
  /// The others are threads of this process.
  virtual bool in_process() const noexcept { return false; }
  /// Ranks of this machine, as far as they read each other's memory; null: none do. Before begin().
  void live_beside(std::shared_ptr<const Neighbours> neighbours) noexcept {
    neighbours_ = std::move(neighbours);
  }
  const Neighbours* neighbours() const noexcept { return neighbours_.get(); }
  /// For people: "Open MPI 4.1.4, called by any thread".
  virtual std::string description() const = 0;
  /// Why payloads cannot be received straight into memory of a CUDA device; empty: they can.
  virtual std::string why_not_into_devices() const = 0;
  /// What comes is told from now on.
  virtual void begin(Listener& listener) = 0;
  /// poked() is called soon, by a thread that hears or drives. Any thread; it does not wait, and allocates nothing.
  virtual void poke() = 0;
  /// Nothing is told but by drive(), which therefore has to be called as long as it listens.
  virtual bool has_to_be_driven() const noexcept { return false; }
  /// Only the thread that began() may drive it: the program's.
  virtual bool driven_by_one_thread() const noexcept { return false; }
  /// Tells what has come, and goes on with what is under way. False if there was nothing to do, or another thread is at
  /// it, or has to be. Any thread; throws SystemError.
  virtual bool drive() { return false; }
  /// Somebody has called poke(), and the caller may do what drive() would do about it.
  virtual bool has_to_say() const noexcept { return false; }
  /// poked() is told, if somebody has called poke(); what has come is not. Any thread.
  virtual bool say() { return false; }
  /// Something may come, or nothing that matters.
  void listen(bool listens) {
    listens_.store(listens);
    if (listens && on_listening_) on_listening_();
  }
  bool listens() const noexcept { return listens_.load(std::memory_order_relaxed); }
  /// Whoever drives it and does nothing else hears that it listens. Before begin() or after end(); empty: nobody does.
  void on_listening(std::function<void()> tell) { on_listening_ = std::move(tell); }
  bool has_own_driver() const noexcept { return on_listening_ != nullptr; }
  /// Once: false if somebody has.
  bool take() noexcept { return !taken_.exchange(true); }
  bool is_taken() const noexcept { return taken_.load(); }
  /// The caller is about to wait until done(). A network that nothing else moves moves meanwhile.
  virtual void help(const std::function<bool()>& done) {
    while (has_to_be_driven() && !done())
      if (!drive()) std::this_thread::yield();
  }
  /// Nothing is told any more, nor sent. What was sent before arrives.
  virtual void end() = 0;
  /// A rank is lost: what is under way stays where it is, and lost() is told soon. Any thread; it does not wait.
  virtual void lose(const std::string&) {}
  /// This rank has no memory to go on: what is under way stays where it is, nothing else comes or goes, and the other ranks are
  /// notified. Any thread; allocates nothing.
  virtual void break_off() noexcept = 0;
  /// Called when this rank cannot go on by itself, as the text says: whoever else can has to tell the other ranks. The listener hears
  /// lost() as well, unless the network has ended for it. Before begin(); `tell` does not wait.
  void on_broken(std::function<void(const std::string& why)> tell) { on_broken_ = std::move(tell); }
  /// It has begun and not ended.
  virtual bool is_open() const noexcept { return false; }

  // ---- in the order in which they are called, for each rank

  virtual void expect(const Commands::Expected& expected) = 0;
  virtual void send(Commands::Message message) = 0;
  virtual void send(const Commands::Payload& payload) = 0;
  /// Nobody reads or writes its bytes afterwards.
  virtual void drop(PayloadId payload) = 0;

 protected:
  void tell_broken(const std::string& why) const {
    if (on_broken_) on_broken_(why);
  }

 private:
  std::atomic<bool> listens_{false}, taken_{false};
  std::function<void()> on_listening_;
  std::function<void(const std::string&)> on_broken_;
  std::shared_ptr<const Neighbours> neighbours_;
};

}  // namespace fairlead::net
