// See http_request.hpp.
#include "front/live/http_request.hpp"

#include <algorithm>
#include <cstddef>

#include "base/ignoring_case.hpp"

namespace fairlead::front {

namespace {

constexpr int bad_request = 400, method_not_allowed = 405, too_large = 431, unknown_version = 505;

bool is_letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
/// "tchar" of RFC 9110, 5.6.2.
bool is_of_token(char c) {
  return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_of_token); }
bool is_visible(char c) { return c > ' ' && c < '\x7f'; }
/// Bytes above 127 are allowed in values, control characters except tabs are not.
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

std::string_view without_blanks(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes and returns the text up to `separator`; all of it if there is none.
std::string_view next_part(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return part;
}

/// 0, or the status that rejects the fields.
int check_fields(std::string_view fields, bool needs_host) {
  int hosts = 0;
  while (!fields.empty()) {
    const std::string_view line = next_part(fields, "\r\n");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad_request;
    const std::string_view name = line.substr(0, colon), value = without_blanks(line.substr(colon + 1));
    if (std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; })) return bad_request;
    hosts += equal_ignoring_case(name, "host");
    const bool announces_body = equal_ignoring_case(name, "transfer-encoding") ||
                                (equal_ignoring_case(name, "content-length") && value != "0");
    if (announces_body) return bad_request;
  }
  return hosts > 1 || (hosts == 0 && needs_host) ? bad_request : 0;
}

ParsedRequest parse_head(std::string_view head) {
  std::string_view line = next_part(head, "\r\n");
  const std::string_view method = next_part(line, " "), target = next_part(line, " "), version = line;
  if (!is_token(method) || target.empty() || !std::ranges::all_of(target, is_visible)) return {bad_request};
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return {version.starts_with("HTTP/") ? unknown_version : bad_request};
  if (target.front() != '/') return {bad_request};
  if (const int error = check_fields(head, version == "HTTP/1.1"); error != 0) return {error};
  if (method != "GET") return {method_not_allowed};
  std::string_view query = target;
  const std::string_view path = next_part(query, "?");
  return {0, {std::string(path), std::string(query)}};
}

}  // namespace

std::optional<ParsedRequest> parse_request(std::string_view received) {
  // Rejected at once: such a client, perhaps one of TLS, does not send the end of a head.
  if (!received.empty() && !is_of_token(received.front())) return ParsedRequest{bad_request};
  constexpr std::string_view end = "\r\n\r\n";
  const std::size_t at = received.substr(0, most_request_bytes).find(end);
  if (at == std::string_view::npos)
    return received.size() >= most_request_bytes ? std::optional(ParsedRequest{too_large}) : std::nullopt;
  return parse_head(received.substr(0, at + 2));
}

std::string_view query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view value = next_part(query, "&");
    if (next_part(value, "=") == name) return value;
  }
  return {};
}

}  // namespace fairlead::front
