// A client of an HTTP server on this machine, for tests: sends bytes as given, and reads until the connection ends.
#pragma once
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace fairlead::front {

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : socket_(open_socket(AF_INET, SOCK_STREAM)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  /// Returns the number of bytes that were sent.
  std::size_t send(std::string_view bytes) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  /// All bytes until the server ends the connection.
  std::string rest() {
    std::string text;
    for (;;) {
      pollfd wanted{socket_.get(), POLLIN, 0};
      if (poll(&wanted, 1, 60'000) <= 0) return "the server does not answer";
      std::array<char, 4096> part;
      const ssize_t bytes = recv(socket_.get(), part.data(), part.size(), 0);
      if (bytes <= 0) return text;
      text.append(part.data(), static_cast<std::size_t>(bytes));
    }
  }
  void close() { socket_.close(); }

 private:
  FileDescriptor socket_;
  bool connected_ = false;
};

/// The response to a request of these bytes.
inline std::string response_to(std::uint16_t port, std::string_view request) {
  HttpClient client(port);
  EXPECT_TRUE(client.connected());
  client.send(request);
  return client.rest();
}

inline std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
}

inline std::string status_of(std::string_view response) {
  return std::string(response.substr(0, response.find("\r\n")));
}
inline std::string body_of(std::string_view response) {
  const std::size_t at = response.find("\r\n\r\n");
  return std::string(at == response.npos ? "" : response.substr(at + 4));
}

}  // namespace fairlead::front
