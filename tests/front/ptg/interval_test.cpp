// The interval of an expression contains every value of the expression: for each operator over small ranges
// and for random expressions, compared with an enumeration of all values.
#include "front/ptg/interval.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace fairlead::ptg {
namespace {

struct Operator {
  const char* name;
  std::function<Expression(Expression, Expression)> build;
  /// The value in plain 64-bit C++; nothing if it is undefined.
  std::function<std::optional<std::int64_t>(std::int64_t, std::int64_t)> value;
};

const std::vector<Operator>& operators() {
  using E = const Expression&;
  using I = std::int64_t;
  static const std::vector<Operator> all{
      {"+", [](E a, E b) { return a + b; }, [](I a, I b) { return a + b; }},
      {"-", [](E a, E b) { return a - b; }, [](I a, I b) { return a - b; }},
      {"*", [](E a, E b) { return a * b; }, [](I a, I b) { return a * b; }},
      {"/", [](E a, E b) { return a / b; }, [](I a, I b) { return b == 0 ? std::optional<I>() : a / b; }},
      {"%", [](E a, E b) { return a % b; }, [](I a, I b) { return b == 0 ? std::optional<I>() : a % b; }},
      {"<<", [](E a, E b) { return a << b; },
       [](I a, I b) { return static_cast<I>(static_cast<std::uint64_t>(a) << (b & 63)); }},
      {">>", [](E a, E b) { return a >> b; }, [](I a, I b) { return a >> (b & 63); }},
      {"&", [](E a, E b) { return a & b; }, [](I a, I b) { return a & b; }},
      {"|", [](E a, E b) { return a | b; }, [](I a, I b) { return a | b; }},
      {"^", [](E a, E b) { return a ^ b; }, [](I a, I b) { return a ^ b; }},
      {"<", [](E a, E b) { return a < b; }, [](I a, I b) { return I{a < b}; }},
      {"<=", [](E a, E b) { return a <= b; }, [](I a, I b) { return I{a <= b}; }},
      {">", [](E a, E b) { return a > b; }, [](I a, I b) { return I{a > b}; }},
      {">=", [](E a, E b) { return a >= b; }, [](I a, I b) { return I{a >= b}; }},
      {"==", [](E a, E b) { return a == b; }, [](I a, I b) { return I{a == b}; }},
      {"!=", [](E a, E b) { return a != b; }, [](I a, I b) { return I{a != b}; }},
      {"&&", [](E a, E b) { return a && b; }, [](I a, I b) { return I{a != 0 && b != 0}; }},
      {"||", [](E a, E b) { return a || b; }, [](I a, I b) { return I{a != 0 || b != 0}; }},
      {"min", [](E a, E b) { return min(a, b); }, [](I a, I b) { return std::min(a, b); }},
      {"max", [](E a, E b) { return max(a, b); }, [](I a, I b) { return std::max(a, b); }},
      {"?:", [](E a, E b) { return choose(a, b, a - 5); }, [](I a, I b) { return a != 0 ? b : a - 5; }},
      {"-a", [](E a, E) { return -a; }, [](I a, I) { return -a; }},
      {"!a", [](E a, E) { return !a; }, [](I a, I) { return I{a == 0}; }},
      {"f(a, b)",
       [](E a, E b) {
         return computed(
             "f", [](std::span<const std::int64_t> given) { return 3 * given[0] - given[1] * given[1]; },
             {a, b});
       },
       [](I a, I b) { return 3 * a - b * b; }},
  };
  return all;
}

const Index p("p"), q("q");

Places two_places() {
  Places places;
  places.add(p);
  places.add(q);
  return places;
}

}  // namespace

TEST(Intervals, OfEachOperatorContainAllValues) {
  const Places places = two_places();
  constexpr std::int64_t side = 7;
  for (const Operator& it : operators()) {
    const Expression expression = it.build(p, q);
    for (std::int64_t a = -side; a <= side; a += 2)
      for (std::int64_t b = a; b <= side; b += 3)
        for (std::int64_t c = -side; c <= side; ++c)
          for (std::int64_t d = c; d <= side; d += 2) {
            const Interval found = interval_of(expression, places, {{a, b}, {c, d}});
            for (std::int64_t x = a; x <= b; ++x)
              for (std::int64_t y = c; y <= d; ++y) {
                const std::optional<std::int64_t> value = it.value(x, y);
                if (!value) continue;
                ASSERT_TRUE(found.first <= *value && *value <= found.last)
                    << x << ' ' << it.name << ' ' << y << " in [" << found.first << ", " << found.last << ']';
              }
          }
  }
}

TEST(Intervals, AreNarrowForTypicalRangeBounds) {
  const Places places = two_places();
  const auto of = [&](const Expression& expression) {
    return interval_of(expression, places, {{0, 5}, {2, 3}});
  };
  const auto is = [&](const Expression& expression, std::int64_t first, std::int64_t last) {
    const Interval found = of(expression);
    EXPECT_EQ(found.first, first) << expression.text();
    EXPECT_EQ(found.last, last) << expression.text();
  };
  is((Expression(1) << p) - 1, 0, 31);
  is(Expression(100) >> p, 3, 100);
  is(p ^ q, 0, 7);
  is(p | q, 0, 7);
  is(p & q, 0, 3);
  is(p % q, 0, 2);
  is((70'000 * (p + 70'000)) / 70'000, 70'000, 70'005);
}

// Values outside 64 bits wrap around, also within an expression.
TEST(Intervals, OfRandomExpressionsContainAllValues) {
  const Places places = two_places();
  Random random(7);
  constexpr int expressions = 3000;
  for (int number = 0; number < expressions; ++number) {
    const auto draw = [&](const auto& again, int depth) -> Expression {
      if (depth == 0 || random.once_in(5)) {
        const std::int64_t constants[] = {0, 1, -1, 3, 31, 62, INT32_MAX, INT64_MAX, INT64_MIN};
        return random.once_in(3)   ? Expression(constants[random.below(std::size(constants))])
               : random.once_in(2) ? Expression(p)
                                   : Expression(q);
      }
      const Expression a = again(again, depth - 1), b = again(again, depth - 1);
      return operators()[random.below(operators().size())].build(a, b);
    };
    const Expression expression = draw(draw, 3);
    const std::int64_t a = random.between(-9, 9), c = random.between(-70, 70);
    const std::vector<Interval> at{{a, a + random.between(0, 5)}, {c, c + random.between(0, 5)}};
    const Interval found = interval_of(expression, places, at);
    const Formula formula(expression, places);
    for (std::int64_t x = at[0].first; x <= at[0].last; ++x)
      for (std::int64_t y = at[1].first; y <= at[1].last; ++y) {
        const std::array<std::int64_t, Places::most> numbers{x, y};
        try {
          const std::int64_t value = formula(numbers.data());
          ASSERT_TRUE(found.first <= value && value <= found.last)
              << expression.text() << " is " << value << " for " << x << ", " << y << ": not in ["
              << found.first << ", " << found.last << ']';
        } catch (const UsageError&) {  // a division by 0
        }
      }
  }
}

}  // namespace fairlead::ptg
