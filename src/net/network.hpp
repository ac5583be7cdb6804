// What carries the bytes between ranks. It may be slow, and messages may overtake each other; it loses nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "net/commands.hpp"

namespace fairlead::net {

class Network {
 public:
  /// Who hears what the network says, on any thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void came(RankId from, std::span<const std::byte> message) = 0;
    virtual void landed(PayloadId expected) = 0;
    virtual void left(PayloadId sent) = 0;
    /// Somebody has called poke().
    virtual void poked() = 0;
  };
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  virtual RankId own() const noexcept = 0;
  virtual std::uint32_t ranks() const noexcept = 0;
  /// What comes is told from now on.
  virtual void begin(Listener& listener) = 0;
  /// poked() is told soon, by a thread of the network's. Any thread; it does not wait.
  virtual void poke() = 0;
  /// The caller is about to wait until done(). A network that nothing else moves moves meanwhile.
  virtual void help(const std::function<bool()>& done) { static_cast<void>(done); }
  /// Nothing is told any more, nor sent. What was sent before arrives.
  virtual void end() = 0;

  // ---- in the order in which they are called, for each rank

  virtual void expect(const Commands::Expected& expected) = 0;
  virtual void send(Commands::Message message) = 0;
  virtual void send(const Commands::Payload& payload) = 0;
  /// Nobody reads or writes its bytes afterwards.
  virtual void drop(PayloadId payload) = 0;
};

}  // namespace fairlead::net
