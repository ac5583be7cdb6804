// The sockets and the thread.
#include "front/live/http_server.hpp"

#include <fairlead/error.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/guarded_thread.hpp"
#include "base/signals_blocked.hpp"

namespace fairlead::front {

namespace {

constexpr std::chrono::seconds pause_without_descriptors{1};
constexpr int waiting_connections = 128;  // that the system accepts ahead

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

std::string text_of(const HttpResponse& response) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}"
      "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
      "\r\n{}",
      response.status, reason_of(response.status), response.type, response.body.size(),
      response.status == 405 ? "Allow: GET\r\n" : "", response.body);
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses numeric_address(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
  return {found, freeaddrinfo};
}

std::uint16_t port_of(const FileDescriptor& socket) {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

bool set_nonblocking(const FileDescriptor& socket) { return fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0; }

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

HttpServer::HttpServer(Options options, Handler handler)
    : options_(std::move(options)), handler_(std::move(handler)) {
  listen_at(options_.address, options_.port);
  const SignalsBlocked for_the_thread;
  try {
    thread_ = guarded_thread([this] { serve(); }, ignore_failure);
  } catch (const std::system_error& error) {
    throw SystemError(fmt::format("the live page: no thread: {}", error.what()));
  }
}

void HttpServer::listen_at(const std::string& address, std::uint16_t port) {
  const Addresses found = numeric_address(address, port);
  if (!found)
    throw ConfigError(fmt::format(
        "the live page cannot be served at \"{}\": give a numeric address of this machine, such as 127.0.0.1",
        address));
  const auto refuse = [&](int error) {
    const std::string advice =
        error == EADDRINUSE ? fmt::format("port {} is in use; give another one, or 0 for a free port", port)
        : error == EADDRNOTAVAIL ? std::string("this machine does not have that address")
                                 : fmt::format("port {}: {}", port, std::generic_category().message(error));
    return SystemError(fmt::format("the live page cannot be served at {}: {}", address, advice));
  };
  listening_ = open_socket(found->ai_family, SOCK_STREAM);
  ending_ = open_event_counter();
  if (!listening_ || !ending_) throw refuse(errno);
  // Connections of a former run that the system still remembers do not occupy the port.
  const int yes = 1;
  setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listening_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(listening_.get(), waiting_connections) != 0 || !set_nonblocking(listening_))
    throw refuse(errno);
  port_ = port_of(listening_);
}

HttpServer::~HttpServer() { end(); }

void HttpServer::end() noexcept {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(ending_.get(), &one, sizeof one);
  thread_.join();
  ::shutdown(listening_.get(), SHUT_RDWR);  // also for child processes that share the socket
  listening_.close();
  clients_.clear();
}

void HttpServer::serve() {
  std::vector<pollfd> watched;
  for (;;) {
    const Clock::time_point now = Clock::now();
    std::optional<Clock::time_point> next;
    const auto wake_at = [&](Clock::time_point at) { next = next ? std::min(*next, at) : at; };
    const bool pausing = accept_again_ > now;
    if (pausing) wake_at(accept_again_);
    watched.assign({{ending_.get(), POLLIN, 0}, {pausing ? -1 : listening_.get(), POLLIN, 0}});
    for (const Client& client : clients_) {
      const bool sends = client.state == Client::State::sending;
      watched.push_back({client.connection.get(), static_cast<short>(sends ? POLLOUT : POLLIN), 0});
      if (client.state != Client::State::waiting_for_end) wake_at(client.deadline);
    }
    const auto left = [&] {
      return std::chrono::ceil<std::chrono::milliseconds>(std::max(*next - now, Clock::duration{}));
    };
    const int ready = poll(watched.data(), watched.size(), next ? static_cast<int>(left().count()) : -1);
    if (ready < 0 && errno != EINTR) return;
    if (ready < 0) continue;
    if (watched[0].revents != 0) return finish_clients();
    const Clock::time_point after = Clock::now();
    std::size_t i = 2;
    std::erase_if(clients_, [&](Client& client) {
      const short events = watched[i++].revents;
      if (events != 0) return !advance(client, events);
      return client.state != Client::State::waiting_for_end && client.deadline <= after;
    });
    if (watched[1].revents != 0) accept_client();
  }
}

/// One at a time: those before it are served first, so that their requests are read before drop_oldest() judges them.
void HttpServer::accept_client() {
  FileDescriptor connection = accept_connection(listening_);
  if (!connection) {
    if (!would_wait() && errno != ECONNABORTED) accept_again_ = Clock::now() + pause_without_descriptors;
    return;
  }
  if (!set_nonblocking(connection)) return;
  if (clients_.size() >= options_.most_clients) drop_oldest();
  clients_.push_back({.connection = std::move(connection), .deadline = Clock::now() + options_.patience});
}

/// Drops a client that has sent no valid request, if there is one: others have proved that they may.
void HttpServer::drop_oldest() {
  auto oldest = std::ranges::find_if(clients_, [](const Client& client) {
    return client.state == Client::State::receiving || client.state == Client::State::closing;
  });
  clients_.erase(oldest == clients_.end() ? clients_.begin() : oldest);
}

bool HttpServer::advance(Client& client, short events) {
  if ((events & (POLLERR | POLLNVAL)) != 0) return false;
  return client.state == Client::State::sending ? send(client) : receive(client);
}

bool HttpServer::receive(Client& client) {
  std::array<char, 4096> part;
  const ssize_t bytes = ::recv(client.connection.get(), part.data(), part.size(), 0);
  if (bytes == 0) return false;
  if (bytes < 0) return would_wait();
  if (client.state != Client::State::receiving) return true;  // bytes after the request are ignored
  client.received.append(part.data(), static_cast<std::size_t>(bytes));
  std::optional<ParsedRequest> parsed = parse_request(client.received);
  if (!parsed) return true;
  if (parsed->error != 0) {
    client.response =
        text_of({.status = parsed->error, .body = fmt::format("{}\n", reason_of(parsed->error))});
  } else {
    client.request = std::move(parsed->request);
    respond(client, false);
    if (client.state == Client::State::waiting_for_end) return true;
  }
  client.state = Client::State::sending;
  client.deadline = Clock::now() + options_.patience;
  return send(client);
}

void HttpServer::respond(Client& client, bool ending) {
  HttpResponse response;
  try {
    response = handler_(client.request, ending);
  } catch (const std::exception&) {
    response = {.status = 500, .body = "no memory\n"};
  }
  if (response.at_end && !ending) {
    client.state = Client::State::waiting_for_end;
    return;
  }
  client.response = text_of(response);
}

bool HttpServer::send(Client& client) {
  while (client.sent < client.response.size()) {
    const ssize_t bytes = ::send(client.connection.get(), client.response.data() + client.sent,
                                 client.response.size() - client.sent, MSG_NOSIGNAL);
    if (bytes < 0) return would_wait();
    client.sent += static_cast<std::size_t>(bytes);
  }
  // A close with unread bytes would reset the connection, and the client could lose the response.
  ::shutdown(client.connection.get(), SHUT_WR);
  client.state = Client::State::closing;
  client.deadline = Clock::now() + options_.patience;
  return true;
}

void HttpServer::finish_clients() {
  for (Client& client : clients_) {
    if (client.state == Client::State::waiting_for_end) respond(client, true);
    if (!client.response.empty()) send(client);
  }
}

}  // namespace fairlead::front
