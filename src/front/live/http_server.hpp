// An HTTP server for a page that shows a running program. One thread serves all clients and waits in poll() only. A
// client can be slow, malformed or one of very many: each request has limits of size and time, and of too many clients
// the oldest is dropped. It is not cpp-httplib, whose version in Debian 12 buffers requests without a limit and starts
// a pool of threads.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "base/file_descriptor.hpp"
#include "front/live/http_request.hpp"

namespace fairlead::front {

struct HttpResponse {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";  ///< of static storage
  std::string body{};
  bool at_end = false;  ///< no response now; the handler is called again when the server ends
};

class HttpServer {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::string address = "127.0.0.1";  ///< numeric
    std::uint16_t port = 0;             ///< 0: a free one
    std::size_t most_clients = 32;
    std::chrono::milliseconds patience{5000};  ///< for a request, for its response to be taken, for the end
  };
  /// Called by the thread of the server. `ending`: the server ends; `at_end` is then ignored.
  using Handler = std::function<HttpResponse(const HttpRequest& request, bool ending)>;

  /// Throws ConfigError if the address is not numeric, SystemError if the port is in use or the system refuses.
  HttpServer(Options options, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// As end().
  ~HttpServer();

  /// Responds to the requests that wait for the end, as far as the clients take the bytes at once, and closes all
  /// connections. After it returns, the handler is not called any more. Idempotent.
  void end() noexcept;
  std::uint16_t port() const noexcept { return port_; }

 private:
  struct Client {
    enum class State : std::uint8_t { receiving, waiting_for_end, sending, closing };
    FileDescriptor connection;
    State state = State::receiving;
    Clock::time_point deadline{};  // unused while waiting for the end
    std::string received{}, response{};
    std::size_t sent = 0;
    HttpRequest request{};
  };

  void listen_at(const std::string& address, std::uint16_t port);
  void serve();
  void accept_client();
  void drop_oldest();
  /// These return false if the connection is over.
  bool advance(Client& client, short events);
  bool receive(Client& client);
  bool send(Client& client);
  void respond(Client& client, bool ending);
  void finish_clients();

  const Options options_;
  const Handler handler_;
  FileDescriptor listening_, ending_;
  std::uint16_t port_ = 0;
  std::list<Client> clients_;         // used by the thread, oldest first
  Clock::time_point accept_again_{};  // used by the thread: not before, since the system refused a descriptor
  std::thread thread_;
};

}  // namespace fairlead::front
