// The HTTP server with well-behaved, slow, malformed and very many clients.
#include "front/live/http_server.hpp"

#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "http_client.hpp"

namespace fairlead::front {
namespace {

using testing::HasSubstr;

/// Answers with the path; /end waits for the end.
HttpResponse echo(const HttpRequest& request, bool ending) {
  if (request.path == "/end" && !ending) return {.at_end = true};
  return {.body = ending ? "the end" : request.path};
}

HttpServer::Options impatient() {
  HttpServer::Options options;
  options.patience = std::chrono::milliseconds(50);
  return options;
}

std::string error_of(const HttpServer::Options& options) {
  try {
    const HttpServer server(options, echo);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(HttpServers, ARequestGetsAResponseThatNoOtherPageMayUse) {
  const HttpServer server({}, echo);
  const std::string response = response_to(server.port(), get("/a"));
  EXPECT_EQ(status_of(response), "HTTP/1.1 200 OK");
  EXPECT_EQ(body_of(response), "/a");
  for (const char* field : {"Content-Length: 2\r\n", "Cache-Control: no-store\r\n", "frame-ancestors 'none'",
                            "Referrer-Policy: no-referrer\r\n", "X-Content-Type-Options: nosniff\r\n"})
    EXPECT_THAT(response, HasSubstr(field));
}

TEST(HttpServers, ARequestMayArriveByteByByte) {
  const HttpServer server({}, echo);
  HttpClient client(server.port());
  for (const char c : get("/slow")) EXPECT_EQ(client.send({&c, 1}), 1u);
  EXPECT_EQ(body_of(client.rest()), "/slow");
}

TEST(HttpServers, AResponseMayBeLargerThanTheBuffersOfTheSystem) {
  const std::string much(8 << 20, 'x');
  const HttpServer server({}, [&](const HttpRequest&, bool) { return HttpResponse{.body = much}; });
  EXPECT_EQ(body_of(response_to(server.port(), get("/"))), much);
}

TEST(HttpServers, MalformedAndLongRequestsAreRejected) {
  const HttpServer server({}, echo);
  EXPECT_EQ(status_of(response_to(server.port(), "nonsense\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  const std::string refused = response_to(server.port(), "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(status_of(refused), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_THAT(refused, HasSubstr("Allow: GET\r\n"));
  EXPECT_EQ(status_of(response_to(server.port(), "GET /" + std::string(100'000, 'a'))),
            "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(body_of(response_to(server.port(), get("/after"))), "/after");
}

TEST(HttpServers, AnErrorOfTheHandlerIsAResponse) {
  const HttpServer server({}, [](const HttpRequest&, bool) -> HttpResponse { throw std::bad_alloc(); });
  EXPECT_EQ(status_of(response_to(server.port(), get("/"))), "HTTP/1.1 500 Internal Server Error");
}

TEST(HttpServers, AClientThatSendsNoRequestIsDisconnected) {
  const HttpServer server(impatient(), echo);
  HttpClient silent(server.port()), slow(server.port());
  slow.send("GET / HT");
  EXPECT_EQ(silent.rest(), "");
  EXPECT_EQ(slow.rest(), "");
}

TEST(HttpServers, AClientThatTakesNoResponseIsDisconnected) {
  std::atomic<int> calls = 0;
  const std::string much(32 << 20, 'x');
  const HttpServer server(impatient(), [&](const HttpRequest&, bool) {
    ++calls;
    return HttpResponse{.body = calls == 1 ? much : "next"};
  });
  HttpClient greedy(server.port());
  greedy.send(get("/"));
  while (calls == 0) std::this_thread::yield();
  EXPECT_EQ(body_of(response_to(server.port(), get("/"))), "next");  // it does not wait for the first client
  HttpClient later(server.port());
  EXPECT_EQ(later.rest(), "");  // its patience ends after that of the first
  EXPECT_LT(greedy.rest().size(), much.size());
}

TEST(HttpServers, OfTooManyClientsThoseWithoutARequestAreDropped) {
  HttpServer::Options options;
  options.most_clients = 4;
  const auto server = std::make_unique<HttpServer>(options, echo);
  HttpClient waiting(server->port());
  waiting.send(get("/end"));
  std::vector<std::unique_ptr<HttpClient>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<HttpClient>(server->port()));
  EXPECT_EQ(body_of(response_to(server->port(), get("/a"))), "/a");
  EXPECT_EQ(silent.front()->rest(), "");
  server->end();
  EXPECT_EQ(body_of(waiting.rest()), "the end");
}

TEST(HttpServers, RequestsThatWaitForTheEndGetItThen) {
  HttpServer server({}, echo);
  HttpClient first(server.port()), second(server.port()), gone(server.port()), half(server.port());
  for (HttpClient* client : {&first, &second, &gone}) client->send(get("/end"));
  half.send("GET / HT");
  gone.close();
  EXPECT_EQ(body_of(response_to(server.port(), get("/a"))), "/a");  // the others were accepted before
  server.end();
  EXPECT_EQ(body_of(first.rest()), "the end");
  EXPECT_EQ(body_of(second.rest()), "the end");
  EXPECT_EQ(half.rest(), "");
  EXPECT_FALSE(HttpClient(server.port()).connected());
}

TEST(HttpServers, APortIsUsedByOneServerAtATime) {
  HttpServer::Options options;
  {
    const HttpServer first({}, echo);
    options.port = first.port();
    EXPECT_EQ(body_of(response_to(options.port, get("/"))), "/");
    EXPECT_THAT(error_of(options), HasSubstr("port " + std::to_string(options.port) + " is in use"));
  }
  EXPECT_EQ(error_of(options), "no error") << "free again, although a connection was open a moment ago";
}

TEST(HttpServers, OnlyNumericAddressesOfThisMachineAreServed) {
  const auto error_at = [](const std::string& address) {
    HttpServer::Options options;
    options.address = address;
    return error_of(options);
  };
  EXPECT_THAT(error_at("localhost"), HasSubstr("give a numeric address of this machine"));
  EXPECT_THAT(error_at("192.0.2.1"), HasSubstr("this machine does not have that address"));
  EXPECT_EQ(error_at("127.0.0.2"), "no error");
}

}  // namespace
}  // namespace fairlead::front
