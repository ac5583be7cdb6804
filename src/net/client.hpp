// A graph on this rank, as the protocol sees it: it has the data that values come to and go from.
#pragma once
#include <string>

#include "net/commands.hpp"

namespace fairlead::net {

/// Called by any thread, one call at a time. Answers may be given at once or later.
class Client {
 public:
  virtual ~Client() = default;
  virtual void find_place(const Commands::Place& place) = 0;
  virtual void read(const Commands::Read& read) = 0;
  virtual void landed(const Commands::Landed& landed) = 0;
  virtual void left(const Commands::Left& left) = 0;
  /// No more values will come.
  virtual void failed(const std::string& why) = 0;
};

}  // namespace fairlead::net
