// Ids of removed data are reused, without any state of the former data.
#include "memory/datum_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace fairlead::memory {

namespace {
constexpr NodeId home{1}, ram{2}, device{3};

DatumSpec tile(std::int32_t collection, std::int32_t row, Bytes bytes = 4096) {
  return {.bytes = bytes, .home = home, .coordinates = {collection, row, 0}};
}
}  // namespace

TEST(DatumTable, TheIdOfARemovedDatumIsReused) {
  DatumTable table;
  const DatumId a = table.add(tile(0, 0)), b = table.add(tile(0, 1));
  table.forget(a);
  EXPECT_EQ(table.add(tile(1, 0)), a);
  EXPECT_EQ(table.add(tile(1, 1)), DatumId{2});
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table[b].coordinates.row, 1);
}

TEST(DatumTable, AReusedIdHasNoStateOfTheFormerDatum) {
  DatumTable table;
  const DatumId id = table.add(tile(0, 5));
  Replica& replica = table.cached_on(id, ram);
  Replica& other = table.cached_on(id, device);
  // The state after uses of the former datum.
  std::construct_at(
      &replica, Replica{.datum = id, .node = ram, .taken_back = 2, .version = 7, .next_of_datum = &other});
  std::construct_at(&other, Replica{.datum = id, .node = device, .version = 6});
  std::construct_at(&table[id], Datum{.home = table[id].home,
                                      .version = 7,
                                      .cached = &replica,
                                      .poisoned = true,
                                      .removed = true,
                                      .advice = 1,
                                      .refresh_put_off = true,
                                      .listed_away = true});
  table.forget(id);
  ASSERT_EQ(table.add(tile(0, 1, 8192)), id);
  EXPECT_EQ(table[id].bytes, 8192u);
  EXPECT_EQ(table[id].version, 1u);
  EXPECT_FALSE(table[id].poisoned || table[id].removed || table[id].listed_away || table[id].refresh_put_off);
  EXPECT_EQ(table[id].advice, no_device);
  EXPECT_FALSE(table[id].dirty());
  for (const NodeId node : {ram, device}) {
    const Replica* again = table.find_on(id, node);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->datum, id);
    EXPECT_EQ(again->version, 0u);
    EXPECT_EQ(again->taken_back, 0u);
    EXPECT_EQ(again->state, ReplicaState::absent);
  }
}

TEST(DatumTable, ACollectionIsRemovedWithItsLastDatum) {
  DatumTable table;
  const DatumId a = table.add(tile(3, 4)), b = table.add(tile(3, 1));
  table.forget(a);
  EXPECT_EQ(table.extent(3).rows, 5);
  table.forget(b);
  EXPECT_EQ(table.extent(3).rows, 0);
}

TEST(DatumTable, KeptIdsAreNotReused) {
  DatumTable table;
  table.keep_ids();
  const DatumId a = table.add(tile(0, 0));
  table.forget(a);
  EXPECT_NE(table.add(tile(0, 0)), a);
}

}  // namespace fairlead::memory
