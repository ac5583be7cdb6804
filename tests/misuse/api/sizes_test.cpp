// Impossible sizes: computed without overflow, refused at registration with the number, without an
// allocation.
#include "misuse/api/refused.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace fairlead::misuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t beyond = (std::int64_t{1} << 61) + 1;  // of 8 bytes: 2^64 + 8, which reads as 8
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();

TEST(Sizes, AVectorWhoseBytesOverflow) {
  Runtime runtime(settings());
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(runtime.vector<double>("v", beyond)); }),
              AllOf(HasSubstr("v: a vector"), HasSubstr("2305843009213693953 elements of 8 bytes")));
  double one = 0;
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(runtime.vector("v", &one, beyond)); }),
              HasSubstr("2305843009213693953"));
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(runtime.vector("v", &one, 1 << 20, beyond)); }),
              HasSubstr("can address"));
  expect_works(runtime);
}

TEST(Sizes, ABlockWhoseBytesOverflow) {
  Runtime runtime(settings());
  EXPECT_THAT(refused<UsageError>([&] {
                static_cast<void>(runtime.block<double>("b", {largest, largest, largest}));
              }),
              AllOf(HasSubstr("b: a block"), HasSubstr("2147483647 x 2147483647 x 2147483647")));
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(runtime.matrix<double>("m", largest, largest)); }),
              AllOf(HasSubstr("m: a matrix"), HasSubstr("2147483647 x 2147483647")));
  EXPECT_THAT(refused<UsageError>(
                  [&] { static_cast<void>(runtime.packable<int>("p", std::numeric_limits<Bytes>::max())); }),
              HasSubstr("18446744073709551615"));
  expect_works(runtime);
}

TEST(Sizes, TilesThatAreTooMany) {
  Runtime runtime(settings());
  EXPECT_THAT(refused<UsageError>(
                  [&] { static_cast<void>(runtime.tiled<double>("A", std::int64_t{1} << 31, 1, 1)); }),
              AllOf(HasSubstr("A:"), HasSubstr("2147483648 x 1 tiles"), HasSubstr("16777216")));
  EXPECT_THAT(refused<UsageError>([&] {
                static_cast<void>(runtime.tiled<float>("A", beyond, beyond, largest, Tiles::lower));
              }),
              AllOf(HasSubstr("A:"), HasSubstr("tiles")));
  const std::int64_t longest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refused<UsageError>([&] { static_cast<void>(runtime.tiled<float>("A", longest, 1, largest)); }),
              HasSubstr("9223372036854775807"));
  // Few tiles, each of them too large.
  EXPECT_THAT(
      refused<UsageError>([&] { static_cast<void>(runtime.tiled<double>("A", largest, largest, largest)); }),
      HasSubstr("can address"));
  expect_works(runtime);
}

TEST(Sizes, AnInvalidMatrixInPlace) {
  Runtime runtime(settings());
  std::vector<double> memory(16);
  double* const nowhere = nullptr;
  EXPECT_THAT(
      refused<UsageError>([&] { static_cast<void>(runtime.tiled_in_place("A", nowhere, 4, 4, 4, 2)); }),
      HasSubstr("A: the address of the matrix is null"));
  EXPECT_THAT(
      refused<UsageError>([&] {
        static_cast<void>(runtime.tiled_in_place("A", memory.data(), 4, 4, std::int64_t{largest} + 1, 2));
      }),
      AllOf(HasSubstr("leading dimension"), HasSubstr("2147483648")));
  EXPECT_THAT(refused<UsageError>([&] {
                static_cast<void>(runtime.tiled_in_place("A", memory.data(), largest, std::int64_t{1} << 40,
                                                         largest, largest));
              }),
              HasSubstr("can address"));
  expect_works(runtime);
}

}  // namespace
}  // namespace fairlead::misuse
