// A socket between two ranks of a tree (lifeline.hpp), and what goes over it: first who is there and the job's token, from
// whoever has connected; then words. Nothing here waits.
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
#include "net/lifeline.hpp"
#include "net/whereabouts.hpp"

namespace fairlead::net {

class LifelineLink {
 public:
  /// Somebody has connected, who has yet to say who he is.
  LifelineLink(FileDescriptor socket, Time now) : socket_(std::move(socket)), since_(now) {}
  /// To that rank, by what it has said of itself: `near` by the local socket, else by each address in turn.
  LifelineLink(RankId own, RankId other, const Whereabouts& at, bool near, const Token& token, Time now);

  /// Nobody, as long as whoever has connected has not said so, or is not one of us.
  RankId other() const noexcept { return other_; }
  Time since() const noexcept { return since_; }
  bool is_broken() const noexcept { return broken_; }
  pollfd wanted() const noexcept {
    return {socket_.get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }
  /// What poll said of it. What has come, in order. False: nothing more can be had there.
  bool go_on(short events, const Token& token, std::uint32_t ranks, Time now, std::vector<Word>& come);
  /// Beats are left out while something has not gone.
  void say(const Word& word);
  /// What can go without waiting.
  void flush();

 private:
  bool connect_to_next(Time now);
  bool receive(const Token& token, std::uint32_t ranks, std::vector<Word>& come);
  bool greeted(const Token& token, std::uint32_t ranks);

  FileDescriptor socket_;
  Time since_{};  // at this address
  RankId other_ = no_rank;
  std::string greeting_;                  // of a line that is being made: said again at each address
  std::vector<sockaddr_storage> to_try_;  // the next one last
  std::string come_, unsent_;
  bool connecting_ = false, broken_ = false;
};

/// A local socket of that name, or one for all addresses at a port that is told. Empty: the system has none.
FileDescriptor listen_locally(const std::string& name);
FileDescriptor listen_everywhere(std::uint16_t& port);
/// Whether who is at the other end is this user, as far as the system knows.
bool is_of_own_user(const FileDescriptor& connected);

}  // namespace fairlead::net
