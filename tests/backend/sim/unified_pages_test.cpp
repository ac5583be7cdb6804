// Locations and migrations of the pages of managed memory by datum: three devices of ten blocks of ten bytes each.
#include "backend/sim/unified_pages.hpp"

#include <gmock/gmock.h>
#include <fairlead/error.hpp>

namespace fairlead::backend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Move = UnifiedPages::Move;
using Use = UnifiedPages::Use;
constexpr auto host = UnifiedPages::host;

/// Between devices a byte takes 1, from or to the host 3; 2 between the devices 1 and 3.
UnifiedPages three_devices() {
  return UnifiedPages({.block = 10,
                       .capacity = {UnifiedPages::unlimited, 100, 100, 100},
                       .time = [](UnifiedPages::Place from, UnifiedPages::Place to, Bytes bytes) {
                         const bool far = from + to == 4 && from != to;
                         const std::int64_t each = from == host || to == host ? 3 : far ? 2 : 1;
                         return Duration(each * static_cast<std::int64_t>(bytes));
                       }});
}
UnifiedPages::Datum datum(int id, Bytes bytes, bool has_value = true) {
  return {static_cast<DatumId>(id), bytes, has_value};
}

}  // namespace

TEST(UnifiedPages, AMigratedDatumIsInOnePlace) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 35);
  EXPECT_THAT(pages.make_resident(a, 1, Use::exclusive).moves, ElementsAre(Move{host, 1, 35}));
  EXPECT_THAT(pages.make_resident(a, 2, Use::exclusive).moves, ElementsAre(Move{1, 2, 35}));
  EXPECT_FALSE(pages.is_there(a, 1));
  EXPECT_FALSE(pages.is_there(a, host));
  EXPECT_THAT(pages.make_resident(a, 2, Use::exclusive).moves, IsEmpty());
  EXPECT_THAT(pages.make_resident(a, host, Use::exclusive).moves, ElementsAre(Move{2, host, 35}));
  EXPECT_EQ(pages.peak_bytes(1), 40u);  // whole blocks
}

TEST(UnifiedPages, TheNearestReplicaIsUsed) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 35);
  pages.make_resident(a, 1, Use::read_shared);
  EXPECT_THAT(pages.make_resident(a, 3, Use::read_shared).moves, ElementsAre(Move{1, 3, 35}));
  EXPECT_THAT(pages.make_resident(a, 2, Use::written).moves, ElementsAre(Move{1, 2, 35}));
  for (const UnifiedPages::Place other : {host, UnifiedPages::Place{1}, UnifiedPages::Place{3}})
    EXPECT_FALSE(pages.is_there(a, other)) << other;
}

TEST(UnifiedPages, PagesAreAllocatedOnFirstTouch) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 35, false);
  EXPECT_FALSE(pages.is_there(a, host));
  const auto changes = pages.make_resident(a, 1, Use::written);
  EXPECT_EQ(changes.bytes_made, 35u);
  EXPECT_THAT(changes.moves, IsEmpty());
  EXPECT_EQ(pages.migrate_home(2), Move{});
  EXPECT_EQ(pages.migrate_home(1), (Move{1, host, 35}));
  EXPECT_EQ(pages.migrate_home(1), Move{});
}

// A has 8 blocks; B needs 5, and 3 are missing: A's first three are evicted to the host. A later access to A gets five from
// the device and three from the host.
TEST(UnifiedPages, EvictedPagesComeFromTheHostTheRestFromTheDevice) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 75), b = datum(1, 50);
  pages.make_resident(a, 1, Use::written);
  const auto changes = pages.make_resident(b, 1, Use::read_shared);
  EXPECT_THAT(changes.evictions, ElementsAre(Move{1, host, 30}));
  EXPECT_EQ(pages.evictions(), 3u);
  EXPECT_THAT(pages.make_resident(a, 2, Use::exclusive).moves,
              ElementsAre(Move{1, 2, 45}, Move{host, 2, 30}));
}

// Pages that device 2 also has are discarded; then that device has the only complete replica.
TEST(UnifiedPages, PagesWithAnotherReplicaAreNotWrittenBack) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 75), b = datum(1, 50), c = datum(2, 50);
  pages.make_resident(a, 1, Use::written);
  pages.make_resident(a, 2, Use::read_shared);
  EXPECT_THAT(pages.make_resident(b, 1, Use::read_shared).evictions, IsEmpty());
  EXPECT_THAT(pages.make_resident(c, 2, Use::read_shared).evictions, ElementsAre(Move{2, host, 30}));
  // Both have the last five blocks, the host has the first three.
  EXPECT_THAT(pages.make_resident(a, 3, Use::read_shared).moves,
              ElementsAre(Move{1, 3, 45}, Move{host, 3, 30}));
}

TEST(UnifiedPages, RecentlyUsedPagesStay) {
  UnifiedPages pages = three_devices();
  const auto a = datum(0, 50), b = datum(1, 50), c = datum(2, 10);
  pages.make_resident(a, 1, Use::written);
  pages.make_resident(b, 1, Use::written);
  pages.make_resident(a, 1, Use::exclusive);
  pages.make_resident(c, 1, Use::exclusive);
  EXPECT_TRUE(pages.is_there(a, 1));
  EXPECT_FALSE(pages.is_there(b, 1));
}

TEST(UnifiedPages, ADatumLargerThanADeviceIsRejected) {
  UnifiedPages pages = three_devices();
  EXPECT_THROW(pages.make_resident(datum(0, 101), 1, Use::exclusive), Error);
}

}  // namespace fairlead::backend
