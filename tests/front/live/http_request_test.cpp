// Heads of HTTP requests: what is read, and what is rejected.
#include "front/live/http_request.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fairlead::front {
namespace {

/// 0: accepted; -1: incomplete.
int status(const std::string& received) {
  const auto parsed = parse_request(received);
  return parsed ? parsed->error : -1;
}

TEST(HttpRequests, ARequestHasAPathAndAQuery) {
  const auto parsed =
      parse_request("GET /state?token=ab&x= HTTP/1.1\r\nHost: localhost:8000\r\nCookie: a=b\r\n\r\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->error, 0);
  EXPECT_EQ(parsed->request.path, "/state");
  EXPECT_EQ(parsed->request.query, "token=ab&x=");
  EXPECT_EQ(query_value(parsed->request.query, "token"), "ab");
  EXPECT_EQ(query_value(parsed->request.query, "x"), "");
  EXPECT_EQ(query_value("xtoken=1&token", "token"), "");
}

TEST(HttpRequests, EachPrefixIsIncomplete) {
  const std::string whole = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_EQ(status(whole.substr(0, bytes)), -1);
  EXPECT_EQ(status(whole), 0);
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), 0) << "without Host, as 1.0 allows";
}

TEST(HttpRequests, OthersAreRejectedWithTheirStatus) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},                        // no host
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},  // two
      {"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},     // for a proxy
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},            // two blanks
      {"GET /\r\nHost: a\r\n\r\n", 400},                      // no version
      {"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},         // a control character
      {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},       // a folded line
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},            // a blank before the colon
      {"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},       // a line feed alone
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: chunked\r\n\r\n", 400},
      {"\x16\x03\x01", 400},  // TLS
      {std::string(1, '\0'), 400},
      {"GET /" + std::string(most_request_bytes, 'a'), 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(most_request_bytes, 'a') + "\r\n\r\n", 431},
  };
  for (const auto& [received, expected] : cases)
    EXPECT_EQ(status(received), expected) << received.substr(0, 60);
}

}  // namespace
}  // namespace fairlead::front
