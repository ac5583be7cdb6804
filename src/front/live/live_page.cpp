// See live_page.hpp.
#include "front/live/live_page.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "net/process_address.hpp"

namespace fairlead::front {

namespace {

/// In a time that depends on the lengths only, so that it does not show where the texts differ.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  return difference == 0;
}

/// For a browser: an address that means all addresses becomes the name of the machine.
std::string host_of(const std::string& address) {
  if (address == "0.0.0.0" || address == "::") return net::own_address().host;
  return address.find(':') == address.npos ? address : "[" + address + "]";
}

}  // namespace

LivePage::LivePage(Options options, std::function<Json(bool ending)> state)
    : token_(options.requires_token ? net::text_of(net::random_token()) : ""),
      state_(std::move(state)),
      server_(std::make_unique<HttpServer>(
          options.server,
          [this](const HttpRequest& request, bool ending) { return respond(request, ending); })),
      address_(fmt::format("http://{}:{}/", host_of(options.server.address), server_->port())) {
  if (!token_.empty()) address_ += "?token=" + token_;
}

HttpResponse LivePage::respond(const HttpRequest& request, bool ending) const {
  if (!token_.empty() && !same_secret(query_value(request.query, "token"), token_))
    return {.status = 403, .body = "This page needs the token: open the address that the run has printed.\n"};
  if (request.path == "/")
    return {.type = "text/html; charset=utf-8", .body = std::string(live_page_files().front().text)};
  if (request.path == "/state" || request.path == "/end") {
    if (request.path == "/end" && !ending) return {.at_end = true};
    return {.type = "application/json", .body = state_(ending).text()};
  }
  return {.status = 404, .body = "There is no such resource; the page is at /.\n"};
}

}  // namespace fairlead::front
