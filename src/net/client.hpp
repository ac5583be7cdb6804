// A front end's run on this rank, as the protocol uses it: it owns the data that values come from and go to.
#pragma once
#include <cstdint>
#include <string>

#include "net/endpoint_commands.hpp"

namespace fairlead::net {

/// Any thread may call these functions, one call at a time. The client may reply during the call or later.
class Client {
 public:
  enum class Cause : std::uint8_t { graphs, flows, messages };

  virtual ~Client() = default;
  /// Provide memory for an incoming value; reply by Communicator::placed().
  virtual void allocate_place(const EndpointCommands::Place& place) = 0;
  /// Keep the value readable and reply by Communicator::readable(); or release it.
  virtual void read(const EndpointCommands::Read& read) = 0;
  /// The value is in its place, or the task has finished.
  virtual void arrived(const EndpointCommands::Arrived& landed) = 0;
  /// All receivers have the value.
  virtual void sent(const EndpointCommands::Sent& left) = 0;
  /// Result of Communicator::expect(). `was_announced`: the value had been announced before.
  virtual void expected(std::uint64_t key, bool was_announced) {
    static_cast<void>(key), static_cast<void>(was_announced);
  }
  /// No more values will come.
  virtual void failed(const std::string& why) = 0;
  /// As failed(), where memory for the text is missing or failed() has thrown: all waits for values end. Does not
  /// allocate.
  virtual void out_of_memory() noexcept = 0;
  /// Why this run exchanges values.
  virtual Cause cause() const noexcept { return Cause::graphs; }
};

/// An observer of transferred values, for any network. Called as Client.
class ValueObserver {
 public:
  virtual ~ValueObserver() = default;
  /// A place is requested; a request to the sender follows.
  virtual void incoming(const EndpointCommands::Place& value, Client::Cause cause) = 0;
  /// The value has arrived.
  virtual void arrived(const ValueName& value) = 0;
  /// A rank has requested the value; later, all ranks that requested it have it.
  virtual void requested(const EndpointCommands::Read& value) = 0;
  virtual void delivered(const EndpointCommands::Sent& value) = 0;
};

}  // namespace fairlead::net
