// Parses the head of an HTTP/1.1 request without a body. Stricter than RFC 9112 requires: the server has two resources
// and browsers as its only clients.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::front {

/// In bytes, with all header fields: browsers send the cookies of a host to each of its ports.
inline constexpr std::size_t most_request_bytes = 16 * 1024;

struct HttpRequest {
  std::string path;   ///< "/state"; begins with a slash, not decoded
  std::string query;  ///< what follows the question mark; not decoded
};

/// A complete head, or the status of the response that rejects it.
struct ParsedRequest {
  int error = 0;  ///< 0: none
  HttpRequest request{};
};

/// Nothing as long as the end of the head has not been received. Rejects anything but a well-formed GET.
std::optional<ParsedRequest> parse_request(std::string_view received);

/// The value of `name` in a query, "a=1&b=2"; empty if there is none.
std::string_view query_value(std::string_view query, std::string_view name);

}  // namespace fairlead::front
