// A process answers requests for its status while it has a server.
#include "report/progress/status_server.hpp"

#include <fairlead/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

namespace fairlead::report {
namespace {

std::string refusal() {
  try {
    return "answered: " + status_of(getpid());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(StatusServer, AnswersEachRequestWithTheStatusOfThatMoment) {
  EXPECT_THAT(refusal(), testing::HasSubstr("no run of fairlead has this process ID"));
  {
    std::atomic<int> requests = 0;
    const std::string much(1 << 20, 'x');  // more than a socket buffers
    const StatusServer server([&] { return std::to_string(++requests) + much; });
    EXPECT_EQ(status_of(getpid()), "1" + much);
    EXPECT_EQ(status_of(getpid()), "2" + much);
  }
  EXPECT_THAT(refusal(), testing::HasSubstr("or it has finished"));
}

}  // namespace
}  // namespace fairlead::report
