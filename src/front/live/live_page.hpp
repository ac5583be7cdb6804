// The live page of one runtime: its address with the token, and the answers of the server.
//   /       the page
//   /state  the state as JSON
//   /end    the last state, sent when the run ends
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/embedded_file.hpp"
#include "base/json.hpp"
#include "front/live/http_server.hpp"

namespace fairlead::front {

/// The files of this folder for browsers.
std::span<const EmbeddedFile> live_page_files();

class LivePage {
 public:
  struct Options {
    HttpServer::Options server{};
    bool requires_token = true;
  };
  /// `state` is called by a thread of the page until end() returns. Throws as HttpServer.
  LivePage(Options options, std::function<Json(bool ending)> state);
  /// Sends the last state to pages that are open. When it returns, `state` is not called any more.
  void end() noexcept { server_->end(); }
  /// "http://127.0.0.1:8000/?token=..."
  const std::string& address() const noexcept { return address_; }

 private:
  HttpResponse respond(const HttpRequest& request, bool ending) const;

  const std::string token_;  // empty: none is required
  const std::function<Json(bool ending)> state_;
  std::unique_ptr<HttpServer> server_;  // last: its thread uses the other members
  std::string address_;
};

}  // namespace fairlead::front
