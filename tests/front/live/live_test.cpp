// The live page of a runtime: who may see it, what it shows during a run, and how the run ends.
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/json.hpp"
#include "http_client.hpp"

namespace fairlead::front {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

struct LiveAddress {
  std::uint16_t port = 0;
  std::string query;

  explicit LiveAddress(const std::string& text) {
    const std::size_t colon = text.rfind(':'), slash = text.find('/', colon);
    std::from_chars(text.data() + colon + 1, text.data() + slash, port);
    query = text.substr(slash + 1);
  }
  std::string body(const std::string& path) const { return body_of(response_to(port, get(path + query))); }
  Json state() const { return Json::parse(body("/state")).value(); }
  std::string request_of_end() const { return get("/end" + query); }
};

std::string text_in(const Json& state, const std::string& name) {
  const Json* const found = state.find(name);
  return found != nullptr && found->string() != nullptr ? *found->string() : "none";
}

Config small(const std::string& key = "workers", const std::string& value = "2") {
  Config config;
  config.set("memory", "16MiB");
  config.set(key, value);
  return config;
}

TEST(LivePages, TheAddressIsOfThisMachineAndHasATokenOfItsOwn) {
  Runtime first(small()), second(small());
  const std::string address = first.live();
  EXPECT_THAT(address, MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]{32}"));
  EXPECT_EQ(first.live(), address);
  EXPECT_NE(LiveAddress(address).query, LiveAddress(second.live()).query);
}

TEST(LivePages, NothingIsShownWithoutTheToken) {
  Runtime runtime(small());
  const LiveAddress page(runtime.live());
  EXPECT_THAT(page.body("/"), StartsWith("<!doctype html>"));
  std::string wrong = page.query;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& query :
       {std::string(), std::string("?token="), wrong, page.query + "0", "?x=" + page.query})
    for (const char* path : {"/", "/state", "/end", "/favicon.ico"}) {
      const std::string response = response_to(page.port, get(path + query));
      EXPECT_EQ(status_of(response), "HTTP/1.1 403 Forbidden") << path << query;
      EXPECT_EQ(body_of(response), "This page needs the token: open the address that the run has printed.\n");
    }
  EXPECT_EQ(status_of(response_to(page.port, get("/other" + page.query))), "HTTP/1.1 404 Not Found");
}

TEST(LivePages, WithoutATokenTheSettingMustSaySo) {
  Runtime runtime(small("live-token", "false"));
  const std::string address = runtime.live();
  EXPECT_THAT(address, MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/"));
  EXPECT_THAT(LiveAddress(address).body("/state"), HasSubstr("\"run\": \"running\""));
}

TEST(LivePages, TheStateShowsTheRunningTaskAndTheWaitingOnes) {
  Runtime runtime(small());
  const LiveAddress page(runtime.live());
  double x = 0;
  const auto datum = runtime.value("x", x);
  std::atomic<bool> runs = false, go_on = false;
  const auto work = codelet("work").cpu([&](InOut<double>) {
    runs = true;
    go_on.wait(false);
  });
  Flow flow(runtime);
  flow.submit(work(datum));
  flow.submit(work(datum));
  while (!runs) std::this_thread::yield();
  const Json state = page.state();
  go_on = true;
  go_on.notify_all();
  flow.wait();
  EXPECT_EQ(text_in(state, "run"), "running");
  EXPECT_EQ(state.find("tasks_done")->count(), 0u);
  EXPECT_EQ(state.find("tasks_submitted")->count(), 2u);
  EXPECT_EQ(state.find("nodes")->elements()->front().find("capacity_bytes")->count(),
            runtime.capacity_bytes());
  const auto& workers = *state.find("workers")->elements();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(text_in(workers[1], "state"), "running");
  EXPECT_EQ(text_in(workers[1], "task"), "work(x)");
  EXPECT_EQ(page.state().find("tasks_done")->count(), 2u);
}

TEST(LivePages, AStalledRunIsShownWithItsCause) {
  Runtime runtime(small());
  const LiveAddress page(runtime.live());
  std::optional<Completion> forgotten;
  std::atomic<bool> returned = false;
  double x = 0;
  const auto start = codelet("start").cpu([&](Completion completion, InOut<double>) {
    forgotten = completion;
    returned = true;
  });
  Flow flow(runtime);
  flow.submit(start(runtime.value("x", x)));
  while (!returned) std::this_thread::yield();
  Json state = page.state();
  const auto is_stalled = [&] { return state.find("stalled")->text() == "true\n"; };
  while (!is_stalled()) state = page.state();  // the body may not have returned
  EXPECT_THAT(*state.find("waits")->elements()->front().string(),
              HasSubstr("its body has returned, but its Completion has not been signalled"));
  EXPECT_EQ(text_in((*state.find("workers")->elements())[1], "state"), "starting");
  forgotten->done();
  flow.wait();
  state = page.state();
  EXPECT_FALSE(is_stalled());
}

TEST(LivePages, TheEndOfTheRunIsReportedToOpenPages) {
  auto runtime = std::make_unique<Runtime>(small());
  const LiveAddress page(runtime->live());
  HttpClient client(page.port);
  client.send(page.request_of_end());
  page.state();  // the request before this one was accepted
  runtime.reset();
  EXPECT_EQ(text_in(Json::parse(body_of(client.rest())).value(), "run"), "finished");
  EXPECT_FALSE(HttpClient(page.port).connected());
}

TEST(LivePages, AnErrorIsReportedAsTheEnd) {
  std::unique_ptr<HttpClient> client;
  try {
    Runtime runtime(small());
    const LiveAddress page(runtime.live());
    client = std::make_unique<HttpClient>(page.port);
    client->send(page.request_of_end());
    page.state();
    runtime.give_up("the matrix is singular");
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
  }
  const Json end = Json::parse(body_of(client->rest())).value();
  EXPECT_EQ(text_in(end, "run"), "failed");
  EXPECT_EQ(text_in(end, "why"), "the matrix is singular");
}

TEST(LivePages, APortThatCannotBeUsedIsAnErrorThatLeavesTheRuntimeAsItIs) {
  Runtime first(small()), second(small());
  const LiveAddress page(first.live());
  EXPECT_THROW(second.live(page.port), SystemError);
  double x = 1;
  const auto datum = second.value("x", x);
  const auto twice = codelet("twice").cpu([](InOut<double> value) { *value *= 2; });
  Flow flow(second);
  flow.submit(twice(datum));
  flow.wait();
  EXPECT_EQ(x, 2);
  EXPECT_THROW(Runtime(small("live", std::to_string(page.port))), SystemError);
  EXPECT_THROW(small("live", "65536"), ConfigError);
}

TEST(LivePages, TheSettingPrintsTheAddress) {
  testing::internal::CaptureStderr();
  { const Runtime runtime(small("live", "0")); }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              MatchesRegex("fairlead: live page: http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]{32}\n"));
}

}  // namespace
}  // namespace fairlead::front
