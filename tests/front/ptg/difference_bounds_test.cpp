// Facts implied by inequalities, compared with an enumeration of a small range.
#include "front/ptg/difference_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "at_length.hpp"

namespace fairlead::ptg {
namespace {

constexpr std::int64_t least = -4, most = 4;

std::int64_t value(const Affine& sum, const std::array<std::int64_t, 3>& at) {
  std::int64_t result = sum.constant;
  for (const auto& [place, factor] : sum.terms) result += factor * at[place];
  return result;
}

/// Of three numbers: k + c <= m, k >= c, k <= c or, rarely, a sum that is not a difference.
Affine drawn(std::mt19937& random) {
  Affine sum{.constant = std::uniform_int_distribution(-4, 4)(random)};
  const auto place = [&] { return static_cast<std::uint8_t>(random() % 3); };
  const auto a = place(), b = place();
  if (random() % 4 != 0) sum.add(a, random() % 8 == 0 ? 2 : 1);
  if (random() % 4 != 0 && a != b) sum.add(b, -1);
  return sum;
}

TEST(DifferenceBounds, AreImpliedOnlyIfTheyHoldForAllNumbers) {
  std::mt19937 random(7);
  int implied = 0, holding = 0;
  for (int run = 0; run < (tests::many_cases() ? 2'000 : 400); ++run) {
    DifferenceBounds known(3);
    std::vector<Affine> facts;
    for (std::uint8_t place = 0; place < 3; ++place) {
      Affine above{.constant = -least}, below{.constant = most};
      above.add(place, 1);
      below.add(place, -1);
      facts.push_back(above);
      facts.push_back(below);
    }
    for (unsigned i = random() % 5; i-- > 0;) facts.push_back(drawn(random));
    for (const Affine& fact : facts) known.add(fact);
    const Affine asked = drawn(random);
    bool holds = true;
    for (std::int64_t x = least; x <= most; ++x)
      for (std::int64_t y = least; y <= most; ++y)
        for (std::int64_t z = least; z <= most; ++z) {
          const std::array at{x, y, z};
          if (std::ranges::all_of(facts, [&](const Affine& fact) { return value(fact, at) >= 0; }))
            holds &= value(asked, at) >= 0;
        }
    holding += holds;
    implied += known.implies(asked);
    ASSERT_LE(known.implies(asked), holds) << "run " << run;
  }
  // Only sums that are not differences are omitted, and few others.
  EXPECT_GT(implied, holding / 2);
}

TEST(DifferenceBounds, AChainOfInequalitiesIsFollowed) {
  const auto at_least = [](std::uint8_t large, std::uint8_t small, std::int64_t by) {
    Affine sum{.constant = -by};
    sum.add(large, 1);
    sum.add(small, -1);
    return sum;
  };
  DifferenceBounds known(4);
  known.add(at_least(1, 0, 1));
  known.add(at_least(2, 1, 1));
  known.add(at_least(3, 2, 0));
  EXPECT_TRUE(known.implies(at_least(3, 0, 2)));
  EXPECT_FALSE(known.implies(at_least(3, 0, 3)));
  EXPECT_FALSE(known.implies(at_least(0, 3, -100)));
}

TEST(DifferenceBounds, ContradictionsDoNotOverflow) {
  DifferenceBounds known(2);
  Affine up{.constant = -(std::int64_t{1} << 40)}, down = up;
  up.add(0, 1);
  up.add(1, -1);
  down.add(0, -1);
  down.add(1, 1);
  for (int i = 0; i < 200; ++i) {
    --up.constant;
    --down.constant;
    known.add(up);
    known.add(down);
  }
  EXPECT_TRUE(known.implies(up));
  EXPECT_TRUE(known.implies(down));
}

}  // namespace
}  // namespace fairlead::ptg
