// See monitor_connection.hpp.
#include "net/monitor_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fairlead::net {

namespace {

// A machine that does not exist sends no reply.
constexpr Duration for_an_address = std::chrono::seconds(2);

struct Greeting {
  std::array<char, 8> what{'F', 'L', 'l', 'i', 'f', 'e', '0', '1'};
  Token token{};
  std::uint32_t rank = 0, unused = 0;
};
struct WireWord {
  std::uint8_t kind = 0, how = 0;
  std::uint16_t unused = 0;
  std::uint32_t rank = 0;
};
static_assert(sizeof(Greeting) == 32 && sizeof(WireWord) == 8, "all ranks read the same bytes");

template <class T>
std::string bytes_of_plain(const T& it) {
  return {reinterpret_cast<const char*>(&it), sizeof it};
}

/// In constant time.
bool same_token(const Token& a, const Token& b) {
  std::byte different{};
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == std::byte{};
}

socklen_t bytes_of_address(const sockaddr_storage& of) {
  if (of.ss_family == AF_INET) return sizeof(sockaddr_in);
  if (of.ss_family == AF_INET6) return sizeof(sockaddr_in6);
  const auto& local = reinterpret_cast<const sockaddr_un&>(of);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(local.sun_path + 1));
}

/// In the abstract namespace: a name starts with a zero byte and is freed with the process.
std::optional<sockaddr_storage> local_address(const std::string& name) {
  sockaddr_storage address{};
  auto& local = reinterpret_cast<sockaddr_un&>(address);
  if (name.empty() || name.size() + 2 > sizeof local.sun_path) return std::nullopt;
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path + 1, name.data(), name.size());
  return address;
}

std::optional<sockaddr_storage> far_address(const std::string& text, std::uint16_t port) {
  sockaddr_storage address{};
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
  } else if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
  } else {
    return std::nullopt;
  }
  return address;
}

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

MonitorConnection::MonitorConnection(RankId own, RankId other, const ProcessAddress& at, bool near,
                                     const Token& token, Time now)
    : since_(now),
      other_(other),
      greeting_(bytes_of_plain(Greeting{.token = token, .rank = static_cast<std::uint32_t>(own)})) {
  if (near) {
    if (const auto address = local_address(at.local)) to_try_.push_back(*address);
  } else {
    // An address that this machine has as well would connect to itself.
    const auto ours = addresses_of_machine();
    for (auto it = at.addresses.rbegin(); it != at.addresses.rend(); ++it)
      if (std::ranges::find(ours, *it) == ours.end() || at.machine == own_address().machine)
        if (const auto address = far_address(*it, at.port)) to_try_.push_back(*address);
  }
  broken_ = !connect_to_next(now);
}

bool MonitorConnection::connect_to_next(Time now) {
  since_ = now;
  while (!to_try_.empty()) {
    const sockaddr_storage address = to_try_.back();
    to_try_.pop_back();
    socket_ = open_socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK);
    if (!socket_) continue;
    const bool there =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), bytes_of_address(address)) == 0;
    if (!there && errno != EINPROGRESS) continue;
    connecting_ = !there;
    unsent_.insert(0, greeting_);
    if (there) flush();
    return true;
  }
  return false;
}

bool MonitorConnection::go_on(short events, const Token& token, std::uint32_t ranks, Time now,
                              std::vector<MonitorMessage>& come) {
  if (broken_) return false;
  if (connecting_) {
    const bool answered = (events & (POLLOUT | POLLERR | POLLHUP)) != 0;
    if (!answered && now - since_ < for_an_address) return true;
    int error = ETIMEDOUT;
    socklen_t bytes = sizeof error;
    if (!answered || ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) {
      unsent_.erase(0, greeting_.size());
      return connect_to_next(now);
    }
    connecting_ = false;
  }
  flush();
  return receive(token, ranks, come) && !broken_;
}

bool MonitorConnection::receive(const Token& token, std::uint32_t ranks, std::vector<MonitorMessage>& come) {
  bool more = true;
  for (;;) {
    std::array<char, 1024> part;
    const ssize_t bytes = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    more = bytes > 0 || (bytes < 0 && would_wait());
    if (bytes <= 0) break;
    come_.append(part.data(), static_cast<std::size_t>(bytes));
  }
  if (other_ == no_rank && come_.size() >= sizeof(Greeting) && !greeted(token, ranks)) return false;
  if (other_ == no_rank) return more && come_.size() < sizeof(Greeting);
  std::size_t read = 0;
  for (; come_.size() - read >= sizeof(WireWord); read += sizeof(WireWord)) {
    WireWord word;
    std::memcpy(&word, come_.data() + read, sizeof word);
    if (word.kind > static_cast<std::uint8_t>(MonitorMessage::Kind::report_loss) ||
        word.how > static_cast<std::uint8_t>(Loss::Kind::failed) ||
        (word.kind >= static_cast<std::uint8_t>(MonitorMessage::Kind::lost) && word.rank >= ranks))
      return false;
    come.push_back({MonitorMessage::Kind{word.kind}, {RankId{word.rank}, Loss::Kind{word.how}}});
  }
  come_.erase(0, read);
  return more;
}

bool MonitorConnection::greeted(const Token& token, std::uint32_t ranks) {
  Greeting greeting;
  std::memcpy(&greeting, come_.data(), sizeof greeting);
  come_.erase(0, sizeof greeting);
  if (greeting.what != Greeting{}.what || !same_token(greeting.token, token) || greeting.rank >= ranks)
    return false;
  other_ = RankId{greeting.rank};
  return true;
}

void MonitorConnection::say(const MonitorMessage& word) {
  if (word.kind == MonitorMessage::Kind::heartbeat && !unsent_.empty()) return;
  unsent_ += bytes_of_plain(WireWord{.kind = static_cast<std::uint8_t>(word.kind),
                                     .how = static_cast<std::uint8_t>(word.loss.how),
                                     .rank = static_cast<std::uint32_t>(word.loss.rank)});
  flush();
}

void MonitorConnection::flush() {
  while (!unsent_.empty() && !connecting_ && socket_) {
    const ssize_t bytes = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return;  // not now; or the connection is broken, which receive() detects
    unsent_.erase(0, static_cast<std::size_t>(bytes));
  }
}

FileDescriptor listen_locally(const std::string& name) {
  FileDescriptor socket = open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
  const auto address = local_address(name);
  if (!socket || !address ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), bytes_of_address(*address)) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return {};
  return socket;
}

FileDescriptor listen_everywhere(std::uint16_t& port) {
  for (const char* const all : {"::", "0.0.0.0"}) {
    sockaddr_storage address = *far_address(all, 0);
    FileDescriptor socket = open_socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK);
    const int none = 0;
    if (address.ss_family == AF_INET6 && socket)  // for IPv4 as well
      ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &none, sizeof none);
    socklen_t bytes = bytes_of_address(address);
    auto* const local = reinterpret_cast<sockaddr*>(&address);
    if (!socket || ::bind(socket.get(), local, bytes) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
        ::getsockname(socket.get(), local, &bytes) != 0)
      continue;
    port = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
    return socket;
  }
  return {};
}

bool is_of_own_user(const FileDescriptor& connected) {
  ucred other{};
  socklen_t bytes = sizeof other;
  return ::getsockopt(connected.get(), SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 &&
         other.uid == ::geteuid();
}

}  // namespace fairlead::net
