// A graph on this rank, as the protocol sees it: it has the data that values come to and go from.
#pragma once
#include <cstdint>
#include <string>

#include "net/commands.hpp"

namespace fairlead::net {

/// Called by any thread, one call at a time. Answers may be given at once or later.
class Client {
 public:
  enum class Cause : std::uint8_t { graphs, flows, messages };

  virtual ~Client() = default;
  virtual void find_place(const Commands::Place& place) = 0;
  virtual void read(const Commands::Read& read) = 0;
  virtual void landed(const Commands::Landed& landed) = 0;
  virtual void left(const Commands::Left& left) = 0;
  /// Of what Communicator::expect() said: `told`: somebody has told of it before.
  virtual void expected(std::uint64_t key, bool told) { static_cast<void>(key), static_cast<void>(told); }
  /// No more values will come.
  virtual void failed(const std::string& why) = 0;
  /// The same where there is no memory for the reason, or failed() has thrown: all waits for values end. Allocates nothing.
  virtual void out_of_memory() noexcept = 0;
  /// Why its values go from rank to rank.
  virtual Cause cause() const noexcept { return Cause::graphs; }
};

/// Who watches values come and go, whatever carries them. As Client.
class ValueWatch {
 public:
  virtual ~ValueWatch() = default;
  /// A place is looked for, and then it is asked for.
  virtual void comes(const Commands::Place& value, Client::Cause cause) = 0;
  virtual void is_here(const ValueName& value) = 0;
  /// Somebody has asked for it; all who have, have it.
  virtual void goes(const Commands::Read& value) = 0;
  virtual void has_gone(const Commands::Left& value) = 0;
};

}  // namespace fairlead::net
