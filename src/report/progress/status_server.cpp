// A socket in the abstract namespace of Linux: its name starts with a zero byte and ends with the process.
#include "report/progress/status_server.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/guarded_thread.hpp"

namespace fairlead::report {

namespace {

constexpr int answer_within_milliseconds = 5000;

struct Address {
  sockaddr_un socket{};
  socklen_t bytes = 0;
  explicit Address(pid_t process) {
    socket.sun_family = AF_UNIX;
    const std::string name = fmt::format("fairlead status {}", process);
    std::memcpy(socket.sun_path + 1, name.data(), name.size());
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

/// Whether the client may read the status.
bool may_ask(int connection) {
  ucred asking{};
  socklen_t bytes = sizeof asking;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &asking, &bytes) == 0 &&
         (asking.uid == geteuid() || asking.uid == 0);
}

void send_all(int connection, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t part = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (part <= 0) return;  // the client is gone, or does not read
    sent += static_cast<std::size_t>(part);
  }
}

}  // namespace

StatusServer::StatusServer(std::function<std::string()> status) : status_(std::move(status)) {
  const Address address(getpid());
  socket_ = open_socket(AF_UNIX, SOCK_STREAM);
  end_ = open_event_counter();
  if (!socket_ || !end_ || bind(socket_.get(), address.get(), address.bytes) != 0 ||
      listen(socket_.get(), 8) != 0)
    return;
  try {
    thread_ = guarded_thread([this] { serve(); }, ignore_failure);
  } catch (const std::exception&) {
    // No thread, or no memory: the run does not need it.
  }
}

StatusServer::~StatusServer() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(end_.get(), &one, sizeof one);
    thread_.join();
  }
}

void StatusServer::serve() {
  for (;;) {
    std::array<pollfd, 2> wanted{{{socket_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    if (wanted[1].revents != 0) return;
    if (wanted[0].revents == 0) continue;
    const FileDescriptor accepted = accept_connection(socket_);
    if (!accepted) continue;
    const int connection = accepted.get();
    const timeval patience{.tv_sec = 1, .tv_usec = 0};  // for a client that does not read
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (may_ask(connection)) send_all(connection, status_());
  }
}

std::string status_of(pid_t process) {
  const Address address(process);
  const FileDescriptor opened = open_socket(AF_UNIX, SOCK_STREAM);
  const int connection = opened.get();
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("no status from process {}: {}", process, why));
  };
  if (connection < 0) throw refuse(std::strerror(errno));
  if (connect(connection, address.get(), address.bytes) != 0)
    throw refuse(errno == ECONNREFUSED
                     ? std::string("no run of fairlead has this process ID, or it has finished")
                     : std::string(std::strerror(errno)));
  std::string text;
  for (;;) {
    pollfd wanted{connection, POLLIN, 0};
    if (poll(&wanted, 1, answer_within_milliseconds) <= 0)
      throw refuse(fmt::format("it has not answered for {} s", answer_within_milliseconds / 1000));
    std::array<char, 4096> part;
    const ssize_t bytes = recv(connection, part.data(), part.size(), 0);
    if (bytes <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  if (text.empty()) throw refuse("it belongs to another user");
  return text;
}

}  // namespace fairlead::report
