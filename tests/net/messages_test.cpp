// The encoding of messages, and the errors of an endpoint for invalid messages and for messages of another program.
#include "net/messages.hpp"

#include <gtest/gtest.h>

#include "net/endpoint.hpp"

namespace fairlead::net {
namespace {

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

Activate an_activate() {
  Activate activate{.of = {3, 4}, .task = 5, .fingerprint = 6, .outputs = {}};
  activate.outputs.push_back(
      {.number = 1, .datum_type = 2, .bytes = 800, .forward_to = {RankId{7}, RankId{9}}, .offered = true});
  activate.outputs.push_back(
      {.number = 63, .datum_type = 0, .bytes = 5, .forward_to = {}, .value = some_bytes(5)});
  return activate;
}

TEST(MessageBytes, AreReadAsTheyWereWritten) {
  const auto message = message_of(bytes_of(an_activate()));
  ASSERT_TRUE(message);
  const auto& read = std::get<Activate>(*message);
  EXPECT_EQ(read.of, (GraphRun{3, 4}));
  EXPECT_EQ(read.task, 5u);
  EXPECT_EQ(read.fingerprint, 6u);
  ASSERT_EQ(read.outputs.size(), 2u);
  EXPECT_EQ(read.outputs[0].forward_to, (std::vector<RankId>{RankId{7}, RankId{9}}));
  EXPECT_EQ(read.outputs[0].bytes, 800u);
  EXPECT_TRUE(read.outputs[0].offered);
  EXPECT_FALSE(read.outputs[1].offered);
  EXPECT_EQ(read.outputs[1].number, 63u);
  EXPECT_EQ(read.outputs[1].value, some_bytes(5));

  const auto request = message_of(bytes_of(Request{{1, 2}, 3, 4, 5}));
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<Request>(*request).first_tag, 4u);
  EXPECT_EQ(std::get<Request>(*request).outputs, 5u);
  EXPECT_EQ(std::get<Credit>(*message_of(bytes_of(Credit{9}))).bytes, 9u);
  EXPECT_EQ(std::get<Allowance>(*message_of(bytes_of(Allowance{9}))).takes_along, 9u);
  const ValueName name{{1, 2}, 3, 4};
  const auto offer = std::get<Offer>(*message_of(bytes_of(Offer{name, 5, 6, 7})));
  EXPECT_EQ(offer.name, name);
  EXPECT_EQ(offer.address, 5u);
  EXPECT_EQ(offer.mark_at, 6u);
  EXPECT_EQ(offer.mark, 7u);
  EXPECT_EQ(std::get<ReadAcknowledged>(*message_of(bytes_of(ReadAcknowledged{name}))).name, name);
  EXPECT_EQ(std::get<Failed>(*message_of(bytes_of(Failed{RankId{2}, "the disk is full"}))).text,
            "the disk is full");
}

TEST(MessageBytes, ThatAreTruncatedOrExtendedAreInvalid) {
  const std::vector<std::byte> whole = bytes_of(an_activate());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(message_of(std::span(whole).first(length))) << length;
  std::vector<std::byte> more = whole;
  more.push_back({});
  EXPECT_FALSE(message_of(more));
}

TEST(AnEndpoint, ReportsTheSenderOfAnInvalidMessage) {
  Endpoint endpoint(RankId{1}, 4, {});
  EndpointCommands out;
  endpoint.message(RankId{3}, some_bytes(9), out);
  EXPECT_NE(out.failure.find("a message from rank 3 is invalid"), std::string::npos) << out.failure;
  EXPECT_EQ(out.messages.size(), 3u) << "the others are notified";
}

TEST(AnEndpoint, ReportsARankThatRunsAnotherProgram) {
  Endpoint endpoint(RankId{1}, 2, {});
  EndpointCommands out;
  endpoint.begin({3, 4}, 99, {.in_transit = 1}, out);
  endpoint.message(RankId{0}, bytes_of(an_activate()), out);
  EXPECT_NE(out.failure.find("ranks 1 and 0 do not run the same program"), std::string::npos) << out.failure;
}

TEST(AnEndpoint, ReportsARequestForAnUnannouncedValue) {
  Endpoint endpoint(RankId{1}, 2, {});
  EndpointCommands out;
  endpoint.begin({0, 0}, 1, {.in_transit = 1}, out);
  endpoint.message(RankId{0}, bytes_of(Request{{0, 0}, 3, 0, 1}), out);
  EXPECT_NE(out.failure.find("rank 0 asked rank 1 for a value that was not announced to it"),
            std::string::npos);
}

}  // namespace
}  // namespace fairlead::net
