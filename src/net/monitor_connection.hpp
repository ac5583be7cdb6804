// A connection between two ranks of the failure detector (failure_detector.hpp). The connecting side sends its rank and the
// job's token; then both send messages. No call blocks.
#pragma once
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/time.hpp"
#include "net/failure_detector.hpp"
#include "net/process_address.hpp"

namespace fairlead::net {

class MonitorConnection {
 public:
  /// An accepted connection; the peer has yet to send its rank.
  MonitorConnection(FileDescriptor socket, Time now) : socket_(std::move(socket)), since_(now) {}
  /// Connects to that rank at its published address: with `near` by the local socket, otherwise by each network
  /// address in turn.
  MonitorConnection(RankId own, RankId other, const ProcessAddress& at, bool near, const Token& token,
                    Time now);

  /// The peer's rank; no_rank before a valid handshake.
  RankId other() const noexcept { return other_; }
  Time since() const noexcept { return since_; }
  bool is_broken() const noexcept { return broken_; }
  pollfd wanted() const noexcept {
    return {socket_.get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }
  /// Processes the events of poll. Appends received messages, in order. False: the connection is closed.
  bool go_on(short events, const Token& token, std::uint32_t ranks, Time now,
             std::vector<MonitorMessage>& come);
  /// Heartbeats are skipped while unsent bytes are queued.
  void say(const MonitorMessage& word);
  /// Sends what does not block.
  void flush();

 private:
  bool connect_to_next(Time now);
  bool receive(const Token& token, std::uint32_t ranks, std::vector<MonitorMessage>& come);
  bool greeted(const Token& token, std::uint32_t ranks);

  FileDescriptor socket_;
  Time since_{};  // start of the attempt at this address
  RankId other_ = no_rank;
  std::string greeting_;                  // of a connection in progress: sent at each address
  std::vector<sockaddr_storage> to_try_;  // the next one last
  std::string come_, unsent_;
  bool connecting_ = false, broken_ = false;
};

/// A listening local socket with that name, or one for all addresses, which returns its port. Empty: the system has
/// none.
FileDescriptor listen_locally(const std::string& name);
FileDescriptor listen_everywhere(std::uint16_t& port);
/// True if the peer of a local socket runs as this user.
bool is_of_own_user(const FileDescriptor& connected);

}  // namespace fairlead::net
