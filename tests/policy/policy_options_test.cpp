// Options after a policy's name.
#include "policy/policy_options.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <array>
#include <string>

#include "schedule/policies.hpp"

namespace fairlead {
namespace {

constexpr std::array known = {
    PolicyOption{"affinity", "sdh", "what counts as near"},
    PolicyOption{"lambda", "2", "buckets looked at in a row"},
    PolicyOption{"skew", "0.2", "how much later it may be over"},
    PolicyOption{"steal", "yes", "yes or no"},
};
constexpr std::array<std::string_view, 2> affinities{"sdh", "sdhb"};

PolicyOptions read(std::string_view written) { return {"near", known, written}; }

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PolicyOptions, AreTheGivenValueOrTheDefault) {
  const PolicyOptions options = read("lambda=3:affinity=sdhb");
  EXPECT_EQ(options.choice("affinity", affinities), 1u);
  EXPECT_EQ(options.integer("lambda", 1, 10), 3);
  EXPECT_EQ(options.number("skew", 0, 1), 0.2);
  EXPECT_TRUE(options.flag("steal"));
  EXPECT_TRUE(options.is_set("lambda"));
  EXPECT_FALSE(options.is_set("skew"));
}

TEST(PolicyOptions, ThatAreUnknownAreRefusedWithTheNearest) {
  EXPECT_EQ(refusal([] { read("lamda=3"); }),
            "the scheduler near has no option \"lamda\" (did you mean lambda?); it has affinity, lambda, "
            "skew, steal");
  EXPECT_EQ(refusal([] { schedule::make_policy("lws:depth=3"); }),
            "the scheduler lws has no options, but is given \"depth=3\"");
}

TEST(PolicyOptions, ThatThePolicyDoesNotDeclareAreAnInternalError) {
  try {
    static_cast<void>(read("").text("gamma"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "the policy near reads an option \"gamma\" that it does not list");
  }
}

TEST(PolicyOptions, NeedOneValue) {
  EXPECT_EQ(refusal([] { read("lambda"); }),
            "the option lambda of the scheduler near is given no value: write option=value");
  EXPECT_EQ(refusal([] { read("lambda=:skew=1"); }),
            "the option lambda of the scheduler near is given no value: write option=value");
  EXPECT_EQ(refusal([] { read("lambda=1:lambda=2"); }),
            "the option lambda of the scheduler near is set twice");
}

TEST(PolicyOptions, AreRefusedWithTheValidValues) {
  EXPECT_EQ(refusal([] { read("affinity=sdhbb").choice("affinity", affinities); }),
            "the option affinity of the scheduler near is \"sdhbb\", but must be one of sdh, sdhb (did you "
            "mean sdhb?)");
  EXPECT_EQ(refusal([] { read("lambda=2.5").integer("lambda", 1, 10); }),
            "the option lambda of the scheduler near is \"2.5\", but must be a whole number from 1 to 10");
  EXPECT_EQ(refusal([] { read("skew=nan").number("skew", 0, 1); }),
            "the option skew of the scheduler near is \"nan\", but must be a number from 0 to 1");
  EXPECT_EQ(refusal([] { read("steal=maybe").flag("steal"); }),
            "the option steal of the scheduler near is \"maybe\", but must be one of no, yes");
}

}  // namespace
}  // namespace fairlead
